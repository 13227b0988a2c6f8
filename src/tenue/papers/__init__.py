"""Every table and figure of the papers, computed again beside the printed one."""
