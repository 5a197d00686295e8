-- Few of many files fail to be read, or have secrets: these are found without reading all.
CREATE INDEX sources_failing ON sources (tenant_no, path) WHERE failure IS NOT NULL;
CREATE INDEX sources_secret ON sources (tenant_no, path) WHERE secrets > 0;
