"""What nbyt withstands, tried many times: kills, full disks, hostile envs, files and settings."""
