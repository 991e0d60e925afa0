"""What all measured tables of two columns say together."""
