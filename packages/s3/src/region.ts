const DEFAULT_REGION = 'us-east-1';

/** Services name it after `s3`: `s3.eu-west-1.amazonaws.com`, `s3.fr-par.scw.cloud`. Most that run at home take any. */
export function regionOf(endpoint: string): string {
  const named = /^s3(?:-fips)?[.-](?:dualstack\.)?([a-z]{2,}(?:-[a-z0-9]+)+)\./.exec(new URL(endpoint).hostname);
  return named?.[1] ?? DEFAULT_REGION;
}
