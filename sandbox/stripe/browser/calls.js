/** Calls to the API with the publishable key; every error is returned as a value, as Stripe.js does. */

export class IntegrationError extends Error {
  name = 'IntegrationError';
}

/** Form fields for nested objects, as Stripe's API expects them. */
export function formOf(value, name = '', form = new URLSearchParams()) {
  for (const [key, inner] of Object.entries(value ?? {})) {
    const path = name ? `${name}[${key}]` : key;
    if (inner === undefined || inner === null) continue;
    if (typeof inner === 'object') formOf(inner, path, form);
    else form.append(path, String(inner));
  }
  return form;
}

/** @returns `{value}` or `{error}` */
export async function call(origin, key, method, path, params = {}) {
  const form = formOf(params);
  const query = method === 'GET' && form.size > 0 ? `?${form}` : '';
  try {
    const response = await fetch(`${origin}/v1${path}${query}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(method === 'POST' && { body: form }),
    });
    const body = await response.json();
    return body.error ? { error: body.error } : { value: body };
  } catch {
    return {
      error: {
        type: 'api_connection_error',
        message: 'An error occurred with our connection to Stripe. Please check your network and try again.',
      },
    };
  }
}

/**
 * The intent that a client secret belongs to.
 * @param name function that was called
 * @param kinds prefixes of the intents that it accepts
 */
export function intentOf(name, clientSecret, kinds) {
  const found = /^((pi|seti)_[A-Za-z0-9]+)_secret_[A-Za-z0-9]+$/.exec(String(clientSecret));
  if (!found || !kinds.includes(found[2])) {
    throw new IntegrationError(
      `Invalid value for stripe.${name} intent secret: value should be a client secret of the form \${id}_secret_\${secret}. You specified: ${String(clientSecret)}.`,
    );
  }
  const setup = found[2] === 'seti';
  return {
    id: found[1],
    clientSecret,
    setup,
    path: `/${setup ? 'setup' : 'payment'}_intents/${found[1]}`,
    name: setup ? 'setupIntent' : 'paymentIntent',
    problem: setup ? 'last_setup_error' : 'last_payment_error',
  };
}
