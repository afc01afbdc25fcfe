/** Sentences of the paywall; those of spec sections 2 and 8 word for word. */
import { messages as signInMessages } from '../shared/messages.ts';

export const messages = {
  ...signInMessages,
  exists: 'A user with this email already exists.',
  paymentFailed: 'Payment has failed - please check your card details, or try another payment method.',
  offline: 'The paper cannot be reached. Please check your connection and try again.',
  /** Behind {@link messages.offline} while a payment is under way. */
  safe: 'Everything you have typed is kept, and trying again goes on with the same payment: you cannot be charged twice.',
  unfinished: 'The payment has not gone through yet.',
  pending:
    'Your bank is still working on the payment. As soon as it is done your subscription begins, and we write to you.',
  couponFailed: 'This coupon cannot be used.',
  plansFailed: 'The subscriptions cannot be shown just now.',
  noPlans: 'Nothing is for sale at the moment. Please try again a little later.',
  walletTax: "Sales tax depends on your wallet's billing address. If there is any, we show you the sum before you pay.",
  scriptFailed: 'The card form could not be loaded.',
  addressIncomplete: 'Please complete the address first.',
  signedOut: 'You have been signed out. Please sign in again; everything you typed is still here.',
  sumChanged: (sum: string) => `The sum is now ${sum}. Please look at it, and press the button again if you agree.`,
} as const;
