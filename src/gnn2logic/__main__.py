"""``python -m gnn2logic`` is the command ``gnn2logic``."""

from gnn2logic.cli import main

if __name__ == "__main__":
    main()
