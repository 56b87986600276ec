"""What is done where the rows are: one shard of whole graphs, its columns, features and sums."""
