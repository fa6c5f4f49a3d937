"""Charts and maps as SVG, drawn from plain data: no script, no library, a table behind each."""

from mfbo.serve.pages.drawing.charts import Chart
from mfbo.serve.pages.drawing.lines import Series, line_chart
from mfbo.serve.pages.drawing.maps import Stop, station_map
from mfbo.serve.pages.drawing.whisker_bars import Bar, bar_chart

__all__ = ["Bar", "Chart", "Series", "Stop", "bar_chart", "line_chart", "station_map"]
