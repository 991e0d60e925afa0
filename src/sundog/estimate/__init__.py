"""What released values tell at no privacy cost."""
