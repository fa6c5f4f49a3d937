"""The operator's sheets: stations, placements, payoffs and past days read; plans and exports written.

``read_population("stations.csv", size=300)`` begins a study, ``write_plan`` writes what to move, ``read_placed``,
``read_cells`` and ``read_agents`` read what came of it, ``read_past_days`` the days before,
``read_coming_days`` what is known of those to come, and ``export_study`` writes
all rounds for other programs. Every reader takes a file as people have it and refuses one with all its faults at once,
by line and column; several readers that share one ``Faults`` report together. The commands `mfbo study …` are these
functions and words around them.
"""

from mfbo.csv_reader import Faults
from mfbo.sheets.coming_days import read_coming_days
from mfbo.sheets.export import export_study, exported, study_rows
from mfbo.sheets.imported_days import PastDay, read_past_days
from mfbo.sheets.plan_sheets import plan_rows, read_plan, rows_csv, write_plan
from mfbo.sheets.stations import Stations, read_contexts, read_new_stations, read_population, read_stations
from mfbo.sheets.told_sheets import CellPayoffs, read_agents, read_cells, read_docks, read_placed, too_many_seen

__all__ = [
    "CellPayoffs",
    "Faults",
    "PastDay",
    "Stations",
    "export_study",
    "exported",
    "plan_rows",
    "read_agents",
    "read_cells",
    "read_coming_days",
    "read_contexts",
    "read_docks",
    "read_new_stations",
    "read_past_days",
    "read_placed",
    "read_plan",
    "read_population",
    "read_stations",
    "rows_csv",
    "study_rows",
    "too_many_seen",
    "write_plan",
]
