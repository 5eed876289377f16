"""What tools/frozen_names knows of where names that machines read come from."""
