/** An independent Iceberg client, to judge what we write and to write what we read. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { NessieAddresses } from '../../../../tools/nessie/start.ts';

const PRELUDE = `
import base64, datetime, decimal, json, sys, urllib.parse, uuid
import pyarrow as pa
from pyiceberg.catalog import load_catalog
given = json.loads(sys.argv[1])
place = given["place"]
catalog = load_catalog("nessie", **{
    "type": "rest", "uri": place["baseURL"] + "/iceberg", "prefix": urllib.parse.quote(given["branch"], safe=""),
    "s3.endpoint": place["s3Endpoint"], "s3.region": place["s3Region"],
    "s3.access-key-id": place["accessKey"], "s3.secret-access-key": place["secretAccessKey"]})

def plain(value):
    if isinstance(value, dict): return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list): return [plain(v) for v in value]
    if isinstance(value, tuple): return [plain(v) for v in value]
    if isinstance(value, bytes): return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime): return value.strftime("%Y-%m-%dT%H:%M:%S.%f") + ("Z" if value.tzinfo else "")
    if isinstance(value, datetime.time): return value.strftime("%H:%M:%S.%f")
    if isinstance(value, (datetime.date, uuid.UUID, decimal.Decimal)): return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))): return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53: return str(value)
    return value

def rows(table): return plain(table.scan().to_arrow().to_pylist())
def answer(value): print(json.dumps(value))
`;

export interface Judge {
  /** Runs Python that ends with \`answer(value)\`; \`given["input"]\` is the input, \`catalog\` the branch. */
  run(script: string, input?: unknown): Promise<unknown>;
  /** The rows of a table, ordered by their column \`id\`: longs beyond 2^53, decimals, dates as texts, bytes as base64. */
  rows(table: string): Promise<unknown>;
}

export function judge(place: NessieAddresses, branch = 'main'): Judge {
  const run = async (script: string, input: unknown = null): Promise<unknown> => {
    const given = JSON.stringify({ place, branch, input });
    const { stdout } = await promisify(execFile)(place.python, ['-c', PRELUDE + script, given], { maxBuffer: 1 << 26 });
    const value: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    return value;
  };
  return {
    run,
    rows: (table) => run('answer(sorted(rows(catalog.load_table(given["input"])), key=lambda row: row["id"]))', table),
  };
}
