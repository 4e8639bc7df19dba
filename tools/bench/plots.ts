import type { Summary } from './statistics.ts';

const font = 'font-family="system-ui, sans-serif" font-size="13"';
const ourColour = '#0969da';
const otherColour = '#8c959f';

/** A bar, with whiskers from the lower to the upper quartile. */
export interface Bar extends Summary {
  readonly label: string;
}

/**
 * Draws horizontal bars of ratios, with a line at 1.
 *
 * @param title - what is shown
 * @param bars - from top to bottom; the one labelled `ours` stands out
 * @returns an SVG document
 */
export function drawBars(title: string, bars: readonly Bar[]): string {
  const rowHeight = 26;
  const left = 110;
  const width = 720;
  const scale = (width - left - 70) / Math.max(1.2, ...bars.map(({ upper }) => upper));
  const height = 60 + bars.length * rowHeight;
  const rows = bars.map(({ label, median, lower, upper }, index) => {
    const y = 44 + index * rowHeight;
    const middle = y + 9;
    const colour = label === 'ours' ? ourColour : otherColour;
    return [
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end" fill="#57606a">${label}</text>`,
      `<rect x="${left}" y="${y}" width="${round(median * scale)}" height="18" fill="${colour}"/>`,
      `<path d="M${round(left + lower * scale)} ${middle}H${round(left + upper * scale)}" stroke="#24292f"/>`,
      `<text x="${round(left + upper * scale + 6)}" y="${y + 14}" fill="#57606a">${median.toFixed(2)}</text>`,
    ].join('');
  });
  const one = round(left + scale);
  return svg(width, height, title, [
    ...rows,
    `<path d="M${one} 38V${height - 12}" stroke="#cf222e" stroke-dasharray="4 3"/>`,
  ]);
}

/** A line over the numbers of books. */
export interface Line {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

/**
 * Draws lines in a coordinate system with logarithmic axes.
 *
 * @param title - what is shown, with the units of both axes
 * @param lines - each in a colour of its own
 * @returns an SVG document
 */
export function drawLines(title: string, lines: readonly Line[]): string {
  const [width, height, left, top, right, bottom] = [720, 360, 70, 44, 150, 40];
  const all = lines.flatMap(({ points }) => points);
  const [minX, maxX] = decades(all.map(({ x }) => x));
  const [minY, maxY] = decades(all.map(({ y }) => y));
  const toX = (x: number) => round(left + ((Math.log10(x) - minX) / (maxX - minX)) * (width - left - right));
  const toY = (y: number) =>
    round(height - bottom - ((Math.log10(y) - minY) / (maxY - minY)) * (height - top - bottom));
  const colours = [ourColour, '#54aeff', '#1a7f37', '#9a6700', '#cf222e'];
  const parts: string[] = [];
  for (let exponent = minX; exponent <= maxX; exponent += 1) {
    const x = toX(10 ** exponent);
    parts.push(
      `<path d="M${x} ${top}V${height - bottom}" stroke="#d0d7de"/>`,
      `<text x="${x}" y="${height - bottom + 18}" text-anchor="middle" fill="#57606a">${(10 ** exponent).toLocaleString('en')}</text>`,
    );
  }
  for (let exponent = minY; exponent <= maxY; exponent += 1) {
    const y = toY(10 ** exponent);
    parts.push(
      `<path d="M${left} ${y}H${width - right}" stroke="#d0d7de"/>`,
      `<text x="${left - 8}" y="${y + 4}" text-anchor="end" fill="#57606a">${(10 ** exponent).toLocaleString('en')}</text>`,
    );
  }
  lines.forEach(({ label, points }, index) => {
    const colour = colours[index % colours.length];
    const path = points.map(({ x, y }) => `${toX(x)} ${toY(y)}`).join('L');
    const labelY = top + 16 + index * 20;
    parts.push(
      `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(({ x, y }) => `<circle cx="${toX(x)}" cy="${toY(y)}" r="3" fill="${colour}"/>`),
      `<path d="M${width - right + 14} ${labelY - 4}h18" stroke="${colour}" stroke-width="2"/>`,
      `<text x="${width - right + 38}" y="${labelY}" fill="#57606a">${label}</text>`,
    );
  });
  return svg(width, height, title, parts);
}

function decades(values: readonly number[]): [number, number] {
  return [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
}

function svg(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" ${font}>`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" font-size="15" font-weight="600" fill="#24292f">${title}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
