"""The two tables as the newest schema has them; the migrations say how a store came to have them."""

import sqlalchemy as sa

SCHEMA = "0001"  # newest revision in migrations/versions

metadata = sa.MetaData()

studies = sa.Table(
    "studies",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uid", sa.Text, nullable=False),  # a deleted study's records cannot pass for those of its successor
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("events", sa.Integer, nullable=False),  # how many there must be: a lost last one shows
    sa.Column("rounds", sa.Integer, nullable=False),
    sa.Column("ended", sa.Integer, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("study", sa.Integer, sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("step", sa.Integer, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
    sa.UniqueConstraint("study", "number", "step"),
)
