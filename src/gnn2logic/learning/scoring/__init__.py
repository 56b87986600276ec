"""How scorecards are learned: lines that a search proposes, points that fit them together."""
