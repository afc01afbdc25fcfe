/**
 * The browser interfaces of vendors that publish no types, as they document them, in the format of vendor-shapes.json. Only what a
 * vendor's own pages or install snippet confirm is here; check them before a page uses more.
 */
const text = { kind: 'string' } as const;
const number = { kind: 'number' } as const;
const flag = { kind: 'boolean' } as const;
const any = { kind: 'any' } as const;
const callback = { kind: 'function' } as const;
const oneOf = (...values: readonly (string | number | boolean)[]) =>
  ({ kind: 'union', of: values.map((value) => ({ kind: 'literal', value }) as const) }) as const;

export const documentedShapes = {
  /** The install snippet sets `config.accountId`; marfeel.com/docs, "User journey tracking" and "Consent management". */
  marfeel: {
    interfaces: {
      Compass: {
        setUserType: { arguments: [{ kind: 'union', of: [number, ...oneOf('logged', 'paid').of] }], least: 1 },
        getUserType: { arguments: [callback], least: 1 },
        setSiteUserId: { arguments: [text], least: 1 },
        trackConversion: { arguments: [text], least: 1 },
        getRFV: { arguments: [callback], least: 1 },
      },
    },
    types: {
      Config: {
        kind: 'object',
        required: ['accountId'],
        fields: { accountId: number, cookieDomain: text, manualConsent: flag },
      },
    },
  },
  /** The install snippet of a campaign. */
  growsurf: {
    interfaces: {},
    types: {
      Settings: { kind: 'object', required: ['campaignId', 'version'], fields: { campaignId: text, version: text } },
    },
  },
  /** developer.calendly.com, "Embed options overview" and "Advanced embed options". */
  calendly: {
    interfaces: {
      Calendly: {
        initPopupWidget: {
          arguments: [
            {
              kind: 'object',
              required: ['url'],
              fields: {
                url: text,
                prefill: any,
                utm: any,
                pageSettings: any,
                branding: flag,
                color: text,
                textColor: text,
              },
            },
          ],
          least: 1,
        },
      },
    },
    types: {},
  },
  /** docs.churnkey.co, "Quick start guide" and "Further configuration". */
  churnkey: {
    interfaces: {},
    types: {
      What: oneOf('show', 'restart', 'clearState', 'check-failed-payments'),
      Options: {
        kind: 'object',
        required: ['customerId', 'authHash', 'appId', 'mode', 'provider'],
        fields: {
          customerId: text,
          subscriptionId: text,
          authHash: text,
          appId: text,
          mode: oneOf('live', 'test'),
          provider: oneOf('stripe', 'chargebee', 'braintree', 'paddle'),
          record: flag,
          preview: flag,
          report: flag,
          bypassDiscountAppliedScreen: flag,
          bypassPauseAppliedScreen: flag,
          customerAttributes: any,
          i18n: any,
          dynamicOffers: any,
          ...Object.fromEntries(
            [
              ...['handlePause', 'handleCancel', 'handleDiscount', 'handleTrialExtension', 'handlePlanChange'],
              ...['handleSupportRequest', 'handleRedirect'],
              ...['onPause', 'onCancel', 'onDiscount', 'onTrialExtension', 'onPlanChange', 'onGoToAccount'],
              ...['onClose', 'onStepChange'],
            ].map((name) => [name, callback]),
          ),
        },
      },
    },
  },
} as const;
