"""Reports: a summary as plain data, then the same content as HTML, Markdown and JSON."""

from gnn2logic.reporting.reports import Report, report
from gnn2logic.reporting.targets import TargetReports

__all__ = ["Report", "TargetReports", "report"]
