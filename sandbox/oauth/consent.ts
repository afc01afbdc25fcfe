/**
 * The consent page of both providers, on which a person agrees or declines. It is a plain form that posts to `/consent`:
 *
 *     ticket, account (an address, or `other` with `email`), decision (allow | deny), share_email?, email_verified?,
 *     exchange (answers | hangs | fails)
 */
import { escapeHtml as safe } from '../web.ts';
import type { AuthorizationRequest, ConsentAnswer } from './grants.ts';
import { people, personOf } from './people.ts';

export interface Brand {
  readonly name: string;
  readonly color: string;
  /** Whether the provider reports if an address is verified. */
  readonly verifies: boolean;
}

/** @param hint address that the site expects */
export function consentPage(brand: Brand, ticket: string, request: AuthorizationRequest, hint: string | null): string {
  const known = hint === null || people.some(({ email }) => email === hint.toLowerCase());
  const accounts = people.map(
    ({ name, email }, index) => `<label class="account"><input type="radio" name="account" value="${safe(email)}"${
      (hint === null && index === 0) || hint?.toLowerCase() === email ? ' checked' : ''
    }>
<span><strong>${safe(name)}</strong><small>${safe(email)}</small></span></label>`,
  );
  return frame(
    brand,
    `<h1>Continue to ${safe(new URL(request.redirectUri).host)}</h1>
<form method="post" action="/consent">
<input type="hidden" name="ticket" value="${safe(ticket)}">
<fieldset><legend>Choose an account</legend>
${accounts.join('\n')}
<label class="account"><input type="radio" name="account" value="other"${known ? '' : ' checked'}>
<span><strong>Another account</strong><input type="email" name="email" aria-label="Email address of another account" placeholder="reader@example.com" autocomplete="off" value="${known ? '' : safe(hint ?? '')}"></span></label>
</fieldset>
<details><summary>Options of this sign-in</summary>
<label><input type="checkbox" name="share_email" checked> Share the email address</label>
${brand.verifies ? '<label><input type="checkbox" name="email_verified" checked> The address is verified</label>' : ''}
<label>The token endpoint <select name="exchange"><option value="answers">responds</option><option value="hangs">never responds</option><option value="fails">fails</option></select></label>
</details>
<p class="scopes">Requested permissions: ${safe(request.scopes.join(', '))}</p>
<div class="buttons"><button name="decision" value="deny" formnovalidate>Cancel</button><button class="main" name="decision" value="allow">Continue</button></div>
</form>
<script>document.querySelector('[name=email]').addEventListener('input', (event) => { event.target.closest('label').querySelector('[type=radio]').checked = true; });</script>`,
  );
}

/** The choice in a posted form; a sentence about what is wrong if it is invalid. */
export function readConsent(brand: Brand, form: URLSearchParams): { allow: boolean; choice: ConsentAnswer } | string {
  const chosen = form.get('account') === 'other' ? (form.get('email') ?? '') : (form.get('account') ?? '');
  const allow = form.get('decision') !== 'deny';
  if (allow && !/^[^\s@]+@[^\s@]+$/.test(chosen.trim())) return 'Type an email address, or choose an account.';
  const exchange = form.get('exchange');
  return {
    allow,
    choice: {
      person: personOf(chosen),
      shareEmail: form.has('share_email'),
      emailVerified: brand.verifies && form.has('email_verified'),
      exchange: exchange === 'hangs' || exchange === 'fails' ? exchange : 'answers',
    },
  };
}

/** A page with a message, for requests from which the provider does not redirect, such as one with an unknown address. */
export const messagePage = (brand: Brand, title: string, detail: string): string =>
  frame(brand, `<h1>${safe(title)}</h1><p>${safe(detail)}</p>`);

const frame = ({ name, color }: Brand, inside: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(name)} (sandbox)</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; --brand: ${color}; font: 16px/1.45 system-ui, sans-serif; }
* { box-sizing: border-box; }
body { display: grid; place-items: center; min-height: 100dvh; margin: 0; padding: 1rem; background: light-dark(#eef0f3, #121417); color: light-dark(#16181c, #eceef2); }
main { width: min(27rem, 100%); padding: 1.5rem; background: light-dark(#fff, #1d2025); border-top: 4px solid var(--brand); border-radius: 6px; box-shadow: 0 1px 4px rgb(0 0 0 / 25%); }
.brand { margin: 0; font-weight: 600; }
.brand small, small { color: light-dark(#5a616b, #a8b0bb); font-weight: 400; }
h1 { margin: .25rem 0 1rem; font-size: 1.25rem; line-height: 1.25; overflow-wrap: anywhere; }
fieldset { margin: 0; padding: 0; border: 0; }
legend, .scopes { padding: 0; font-size: .875rem; color: light-dark(#5a616b, #a8b0bb); }
label { display: flex; gap: .6rem; align-items: center; padding: .3rem 0; }
.account { padding: .6rem .2rem; border-bottom: 1px solid light-dark(#dfe2e7, #363b43); }
.account span { display: grid; flex: 1; }
input[type=email], select { padding: .35rem .5rem; font: inherit; }
details { margin-block: .8rem; }
.buttons { display: flex; gap: .75rem; justify-content: end; }
button { padding: .55rem 1.1rem; font: inherit; font-weight: 600; color: inherit; background: none; border: 1px solid currentcolor; border-radius: 4px; cursor: pointer; }
.main { color: #fff; background: var(--brand); border-color: var(--brand); }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; }
</style>
</head>
<body><main><p class="brand">${safe(name)} <small>sandbox</small></p>${inside}</main></body>
</html>`;
