"""Graphs on disk, so that data larger than memory can be learned from."""

from gnn2logic.storage.shard_writer import write_shards
from gnn2logic.storage.store import ShardStore, is_store, open_shards
from gnn2logic.storage.stored_shard import StoredShard

__all__ = ["ShardStore", "StoredShard", "is_store", "open_shards", "write_shards"]
