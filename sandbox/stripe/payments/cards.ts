/** Test cards (docs.stripe.com/testing): what each number does, and their names in server code. */
import type { CardProblem } from '../core/model.ts';
import type { DisputeReason } from './disputes.ts';

export type DeclineName = keyof typeof declines;

/** When the bank requires authentication. */
export type Authentication =
  | 'never'
  /** For on-session payments only. */
  | 'on_session'
  /** For on-session payments, and for off-session payments unless the card has been set up for them. */
  | 'unless_set_up'
  /** For every payment, on-session or off-session. */
  | 'always';

/** What a test card does. */
export interface CardBehavior {
  readonly brand: string;
  /** Declined when it is attached or charged. */
  readonly decline?: DeclineName;
  /** Can be attached, and is declined when it is charged. */
  readonly declineCharges?: DeclineName;
  readonly authentication: Authentication;
  /** Declined after the cardholder has authenticated. */
  readonly declineAfterAuthentication?: DeclineName;
  /** Charged, and then disputed by the cardholder. */
  readonly dispute?: DisputeReason;
}

const declined = (decline_code: string, message: string, advice = 'try_again_later'): CardProblem => ({
  type: 'card_error',
  code: 'card_declined',
  decline_code,
  message,
  advice_code: advice,
  doc_url: 'https://stripe.com/docs/error-codes/card-declined',
});
const cardErrorOf = (code: string, message: string, param?: string): CardProblem => ({
  type: 'card_error',
  code,
  message,
  ...(param && { param }),
  doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}`,
});

export const declines = {
  generic: declined('generic_decline', 'Your card was declined.'),
  insufficient_funds: declined('insufficient_funds', 'Your card has insufficient funds.'),
  lost_card: declined('lost_card', 'Your card was declined.', 'do_not_try_again'),
  stolen_card: declined('stolen_card', 'Your card was declined.', 'do_not_try_again'),
  fraudulent: declined('fraudulent', 'Your card was declined.', 'do_not_try_again'),
  velocity: declined(
    'card_velocity_exceeded',
    'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.',
  ),
  expired_card: { ...cardErrorOf('expired_card', 'Your card has expired.', 'exp_month'), decline_code: 'expired_card' },
  incorrect_cvc: {
    ...cardErrorOf('incorrect_cvc', "Your card's security code is incorrect.", 'cvc'),
    decline_code: 'incorrect_cvc',
  },
  processing_error: {
    ...cardErrorOf('processing_error', 'An error occurred while processing your card. Try again in a little bit.'),
    decline_code: 'processing_error',
  },
  incorrect_number: cardErrorOf('incorrect_number', 'Your card number is incorrect.', 'number'),
  no_test_card: declined(
    'test_mode_live_card',
    'Your card was declined. Your request was in test mode, but used a non test (live) card. For a list of valid test cards, visit: https://stripe.com/docs/testing.',
  ),
  authentication_required: {
    ...declined('authentication_required', 'Your card was declined. This transaction requires authentication.'),
    code: 'authentication_required',
  },
} satisfies Record<string, CardProblem>;

const card = (brand: string, more: Partial<CardBehavior> = {}): CardBehavior => ({
  brand,
  authentication: 'never',
  ...more,
});

const cards: Readonly<Record<string, CardBehavior>> = {
  '4242424242424242': card('visa'),
  '4000056655665556': card('visa'),
  '5555555555554444': card('mastercard'),
  '2223003122003222': card('mastercard'),
  '5200828282828210': card('mastercard'),
  '378282246310005': card('amex'),
  '371449635398431': card('amex'),
  '6011111111111117': card('discover'),
  '3056930009020004': card('diners'),
  '3566002020360505': card('jcb'),
  '6200000000000005': card('unionpay'),
  '4000002500003155': card('visa', { authentication: 'unless_set_up' }),
  '4000002760003184': card('visa', { authentication: 'always' }),
  '4000000000003220': card('visa', { authentication: 'on_session' }),
  '4000000000003063': card('visa', { authentication: 'on_session' }),
  '4000008400001629': card('visa', { authentication: 'on_session', declineAfterAuthentication: 'generic' }),
  '4000008260003178': card('visa', { authentication: 'always', declineAfterAuthentication: 'insufficient_funds' }),
  '4000000000000002': card('visa', { decline: 'generic' }),
  '4000000000009995': card('visa', { decline: 'insufficient_funds' }),
  '4000000000009987': card('visa', { decline: 'lost_card' }),
  '4000000000009979': card('visa', { decline: 'stolen_card' }),
  '4000000000000069': card('visa', { decline: 'expired_card' }),
  '4000000000000127': card('visa', { decline: 'incorrect_cvc' }),
  '4000000000000119': card('visa', { decline: 'processing_error' }),
  '4100000000000019': card('visa', { decline: 'fraudulent' }),
  '4000000000006975': card('visa', { decline: 'velocity' }),
  '4000000000000341': card('visa', { declineCharges: 'generic' }),
  '4000000000000259': card('visa', { dispute: 'fraudulent' }),
  '4000000000002685': card('visa', { dispute: 'product_not_received' }),
  '4000000000001976': card('visa', { dispute: 'inquiry' }),
};

/** `pm_card_…` of server code; `visa_` in the middle is optional, as with Stripe's own names. */
const numbersByName: Readonly<Record<string, string>> = {
  visa: '4242424242424242',
  visa_debit: '4000056655665556',
  mastercard: '5555555555554444',
  amex: '378282246310005',
  discover: '6011111111111117',
  diners: '3056930009020004',
  jcb: '3566002020360505',
  unionpay: '6200000000000005',
  chargeDeclined: '4000000000000002',
  chargeDeclinedInsufficientFunds: '4000000000009995',
  chargeDeclinedLostCard: '4000000000009987',
  chargeDeclinedStolenCard: '4000000000009979',
  chargeDeclinedExpiredCard: '4000000000000069',
  chargeDeclinedIncorrectCvc: '4000000000000127',
  chargeDeclinedProcessingError: '4000000000000119',
  chargeDeclinedFraudulent: '4100000000000019',
  chargeCustomerFail: '4000000000000341',
  createDispute: '4000000000000259',
  createDisputeProductNotReceived: '4000000000002685',
  createDisputeInquiry: '4000000000001976',
  authenticationRequired: '4000002760003184',
  authenticationRequiredOnSetup: '4000002500003155',
  authenticationRequiredSetupForOffSession: '4000002500003155',
  authenticationRequiredChargeDeclinedInsufficientFunds: '4000008260003178',
  threeDSecure2Required: '4000000000003220',
  threeDSecureRequired: '4000000000003063',
  threeDSecureRequiredChargeDeclined: '4000008400001629',
};

/** The number behind `pm_card_visa` or `tok_visa`. */
export function numberOf(name: string): string | undefined {
  const short = name.replace(/^(?:pm_card|tok)_/, '');
  if (short === name) return undefined;
  return numbersByName[short] ?? numbersByName[short.replace(/^visa_/, '')];
}

/** Whether the last digit is the right check digit. */
export function passesLuhn(number: string): boolean {
  let sum = 0;
  for (let index = 0; index < number.length; index += 1) {
    const digit = Number(number[number.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return /^\d{12,19}$/.test(number) && sum % 10 === 0;
}

/** The behavior of a card number; one that isn't a test card is declined. */
export const cardBehavior = (number: string): CardBehavior =>
  cards[number] ?? card('unknown', { decline: 'no_test_card' });
