"""What can be asked for, each argument declared once; and plans, as stored with the runs that they were made for."""
