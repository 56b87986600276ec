"""Who runs the work of shards: this process, its threads, or a Dask cluster."""

from gnn2logic.engines.local import LocalEngine
from gnn2logic.engines.protocol import Crew, Engine, Maker, Worker, added

__all__ = ["Crew", "Engine", "LocalEngine", "Maker", "Worker", "added"]
