"""Where vectors by a provider are searched: in a file on this machine, or in a cluster."""
