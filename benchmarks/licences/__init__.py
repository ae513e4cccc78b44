"""The licences of what nbyt needs: `make licences`."""
