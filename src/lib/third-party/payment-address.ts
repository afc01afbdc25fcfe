/**
 * A bank's page leads back to an address that opens the payment's state (docs.stripe.com: `payment_intent_client_secret`, of which
 * Stripe says that it is to be shown to nobody but the customer). Nothing here reads it, so it is taken out of the address before
 * somebody else's script could, on this page or as the referrer of the next.
 */
export function hidePayment(): void {
  const url = new URL(location.href);
  for (const name of [...url.searchParams.keys()])
    if (/^(?:payment|setup)_intent|^redirect_status$/.test(name)) url.searchParams.delete(name);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
