"""Graphs on disk, so that data larger than memory can be learned from."""

from gnn2logic.storage.store import ShardStore, is_store, open_shards
from gnn2logic.storage.stored_shard import StoredShard
from gnn2logic.storage.writing import write_shards

__all__ = ["ShardStore", "StoredShard", "is_store", "open_shards", "write_shards"]
