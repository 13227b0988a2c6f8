"""The analyst's belief, moved towards the truth as far as the promise allows."""
