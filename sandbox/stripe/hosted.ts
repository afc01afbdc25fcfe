/** Invoices as their customers see them: a page and a PDF, at addresses that can't be guessed. */
import { escapeHtml as safe } from '../web.ts';
import { money, shortDate } from './billing/calendar.ts';
import type { RequestHandler } from './controls.ts';
import type { StripeAccount } from './core/account.ts';
import type { Invoice } from './core/model.ts';
import type { StripeState } from './state.ts';

export function hostedInvoices({ account }: StripeState): RequestHandler {
  return async (_request, url) => {
    const found = /^\/invoices\/(\w+)(\/pdf)?$/.exec(url.pathname);
    if (!found) return null;
    const invoice = [...account.store.all('invoice')].find(({ _token }) => _token === found[1]);
    if (!invoice) return new Response('There is no such invoice.\n', { status: 404 });
    const headers = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };
    if (found[2]) {
      return new Response(pdf(textOf(invoice)), {
        headers: {
          ...headers,
          'content-type': 'application/pdf',
          'content-disposition': `attachment; filename="Invoice-${invoice.number}.pdf"`,
        },
      });
    }
    return new Response(page(invoice, url.pathname, challengeOf(account, invoice)), {
      headers: {
        ...headers,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'",
      },
    });
  };
}

/** The page with the bank's challenge for an open invoice; `null` without a challenge. */
function challengeOf({ store }: StripeAccount, { status, _intent }: Invoice): string | null {
  const intent = status === 'open' && _intent ? store.find('payment_intent', _intent) : undefined;
  return intent?.status === 'requires_action' ? `/challenge/${intent.id}?ticket=${intent._challenge}` : null;
}

const rows = (invoice: Invoice): (readonly [string, string])[] => {
  const sum = (amount: number) => money(amount, invoice.currency);
  return [
    ...invoice.lines.data.map((line) => [line.description, sum(line.amount)] as const),
    ...invoice.total_discount_amounts.map(({ amount }) => ['Discount', sum(-amount)] as const),
    ['Total', sum(invoice.total)],
    [invoice.status === 'paid' ? 'Amount paid' : 'Amount due', sum(invoice.amount_due)],
  ];
};

const title = (invoice: Invoice): string =>
  `Invoice ${invoice.number ?? '(draft)'}, ${shortDate(invoice.created)}, ${invoice.status}`;

const textOf = (invoice: Invoice): string[] => [
  title(invoice),
  `For ${invoice.customer_name ?? invoice.customer_email ?? invoice.customer}`,
  '',
  ...rows(invoice).map(([name, amount]) => `${name}: ${amount}`),
];

const page = (invoice: Invoice, path: string, challenge: string | null): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(title(invoice))}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page/page.css">
</head>
<body class="invoice">
<main>
<h1>${safe(title(invoice))}</h1>
<p>For ${safe(String(invoice.customer_name ?? invoice.customer_email ?? invoice.customer))}</p>
<table>
<thead><tr><th scope="col">Description</th><th scope="col">Amount</th></tr></thead>
<tbody>
${rows(invoice)
  .map(([name, amount]) => `<tr><td>${safe(name)}</td><td class="sum">${safe(amount)}</td></tr>`)
  .join('\n')}
</tbody>
</table>
${challenge === null ? '' : `<p><a href="${safe(challenge)}">Confirm the payment with your bank</a></p>`}
<p><a href="${path}/pdf">Download as PDF</a></p>
</main>
</body>
</html>`;

/** The euro sign in WinAnsiEncoding, as an escape of PDF. */
const euro = '\\200';

/** One page of plain text. Of the characters that Latin-1 lacks, it shows the euro sign. */
function pdf(lines: readonly string[]): Buffer<ArrayBuffer> {
  const shown = lines
    .map(
      (line) =>
        `(${line
          .replaceAll('×', 'x')
          .replace(/[\\()]/g, '\\$&')
          .replaceAll('€', euro)}) Tj T*`,
    )
    .join('\n');
  const stream = `BT /F1 11 Tf 16 TL 56 780 Td\n${shown}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${Buffer.byteLength(stream, 'latin1')} >>\nstream\n${stream}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = Buffer.byteLength(body, 'latin1');
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = Buffer.byteLength(body, 'latin1');
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(body, 'latin1') as Buffer<ArrayBuffer>;
}
