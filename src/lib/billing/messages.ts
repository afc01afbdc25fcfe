/** Messages of billing. */
import { paymentFailed } from '../http/feature-messages.ts';
import { common } from '../http/messages.ts';

export const messages = {
  ...common,
  failed: paymentFailed,
  deleted: 'This account is deleted.',

  /** Billing is switched off. */
  off: 'You can’t subscribe just now. Please try again in a few minutes.',
  taxPlace: 'We couldn’t work out the tax for this address. Check your country and ZIP or postal code.',

  planGone: 'We no longer offer this plan. Please choose another.',
  address: 'Tell us first where to deliver your paper.',
  subscribed: 'You already have a subscription. You can switch plans in your account.',
  promotionUsed: 'You’ve already used this offer, and it’s good only once. Please choose another plan.',
  newSubscribers: 'This offer is for new subscribers. To change your plan, please choose another one.',
  busy: 'A payment is under way. Wait a moment, then try again.',
  amountChanged: 'The amount has changed. Please check it and try again.',
  unknownSubscription: 'We can’t find this subscription.',
  alreadyCanceled: 'Your subscription is already canceled.',
  unconfirmed:
    'Confirm your email address first: open the link we mailed you, or sign in with your email again to get a new one.',
  waiting: 'Your bank hasn’t confirmed the payment yet. Wait a moment, then try again.',

  noSubscription: 'You don’t have a subscription yet. Please choose a plan.',
  unpaid: 'Your last payment didn’t go through. Please update your card first.',
  paused: 'Billing for your subscription is paused. You can change your plan once it resumes.',
  /** The card is another person's, who used this address before its owner confirmed it. */
  earlierCard:
    'The card on this subscription was added before you confirmed your email address. Please add your own card first.',
  byInvoice: 'You pay for your subscription by invoice. Please write to us to change your plan.',
  renewing: 'Your subscription is being renewed right now. Please change your plan in about an hour.',
  offerOver: 'This offer is no longer open. Your subscription hasn’t changed.',
  unknownInvoice: 'We can’t find this invoice.',
  invoiceUnavailable: 'We can’t load this invoice right now. Please try again in a minute.',
} as const;

export const couponMessages = {
  unknown: 'We don’t recognize this coupon. Check the spelling and try again.',
  expired: 'This coupon has expired.',
  /** It expired or was used up after our own check. */
  invalid: 'This coupon isn’t valid anymore.',
  used: 'This coupon has been used up.',
  otherPlan: 'This coupon isn’t for this plan.',
  otherReader: 'This coupon is for another reader.',
  firstTime: 'This coupon is for new subscribers.',
} as const;

/** Messages of the retention widget (/cancel). */
export const retention = {
  notUsed: 'This site doesn’t use the retention widget. Cancel at /cancel.',
  unchanged: 'Your subscription hasn’t changed.',
  canceled: 'Your subscription is canceled. You keep what it includes until the end of the period you paid for.',
  cancel: 'Cancel subscription',
  account: 'Your account',
} as const;
