/** As much of XML as S3 speaks: elements without attributes, one below the other. */

/** What is between the tags, of each element of this name. */
export const elements = (xml: string, name: string): readonly string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'g'))].map(([, inside = '']) => inside);

/** The text of the first element of this name. */
export function textOf(xml: string, name: string): string | undefined {
  const [first] = elements(xml, name);
  return first?.replace(
    /&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g,
    (all, decimal?: string, hex?: string, named?: string) => {
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      return ENTITIES[named ?? ''] ?? all;
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

export const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
