"""What each page says of a study, in plain values: functions of a study that change nothing."""
