/** A client of Trino as small as it can be, to judge ours by. */
export type Sql = (text: string) => Promise<string[]>;

/** Runs statements; answers the rows as Trino prints them, each as the text of a JSON array. */
export function sqlOf(url: string): Sql {
  return async (text) => {
    const headers = { 'x-trino-user': 'judge', 'x-trino-client-capabilities': 'PARAMETRIC_DATETIME' };
    const rows: string[] = [];
    let answer = await fetch(`${url}/v1/statement`, { method: 'POST', body: text, headers });
    for (;;) {
      const page: { nextUri?: string; data?: unknown[]; error?: { message: string } } = JSON.parse(
        await answer.text(),
        (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source ?? String(value)) : value),
      );
      if (page.error) throw new Error(`${page.error.message} in ${text.slice(0, 200)}`);
      rows.push(...(page.data ?? []).map((row) => JSON.stringify(row)));
      if (page.nextUri === undefined) return rows;
      answer = await fetch(page.nextUri);
    }
  };
}
