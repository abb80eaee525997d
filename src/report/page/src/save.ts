// Takes something away from the page: to the clipboard where the browser lets a page do that, else as a download.

function download(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** What was done, to be told. */
export async function copyText(name: string, text: string, type: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    download(name, new Blob([text], { type }));
    return `saved as ${name}`;
  }
}

export async function copyPicture(name: string, canvas: HTMLCanvasElement): Promise<string> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) return 'this browser does not give the picture';
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
    return 'copied';
  } catch {
    download(name, blob);
    return `saved as ${name}`;
  }
}

/** Made one by one, where there are many. */
export type Rows = Iterable<(string | number | null)[]>;

export function csvOf(rows: Rows): string {
  const cell = (value: string | number | null): string => {
    if (value === null) return '';
    const text = String(value);
    return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  let text = '';
  for (const row of rows) text += `${row.map(cell).join(',')}\n`;
  return text;
}
