/** Settings of third parties whose scripts pages load. Each is off without its id. */
import { z } from 'zod';
import type { ConsentPlatform } from '../../lib/consent/platform.ts';
import { type ThirdParties, usualAddresses } from '../../lib/third-party/settings.ts';
import { apiAddress, hosts, webAddress } from './fields.ts';

export interface ThirdPartyConfig {
  readonly thirdParties: ThirdParties;
  /** `null`: the site's own banner asks for consent. */
  readonly consentPlatform: ConsentPlatform | null;
}

const id = (form: RegExp, what: string) => z.string().regex(form, `is no ${what}`).optional();

export const thirdPartyFields = {
  GTM_CONTAINER: id(/^GTM-[A-Z0-9]{4,12}$/, 'container; copy it from Tag Manager, where it begins with GTM-'),
  GTM_SCRIPT_URL: apiAddress(usualAddresses.tagManager),
  TAG_HOSTS: hosts('tags.example.com or *.example.com', { wildcards: true }),
  MARFEEL_ACCOUNT: id(/^\d{1,10}$/, 'account id; copy the number from the settings of Marfeel'),
  MARFEEL_SCRIPT_URL: apiAddress(usualAddresses.audience),
  ONESIGNAL_APP_ID: id(
    /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    'app id; copy it from Keys & IDs in OneSignal',
  ),
  ONESIGNAL_SDK_URL: apiAddress(usualAddresses.webPush),
  GROWSURF_CAMPAIGN: id(/^\w{4,16}$/, 'campaign; copy it from the installation page of GrowSurf'),
  GROWSURF_SCRIPT_URL: apiAddress(usualAddresses.referral),
  CALENDLY_URL: z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return undefined;
      const url = webAddress(text);
      if (url && !url.username && !url.password && !url.hash) return url.href;
      context.addIssue('is no address of a booking page; give one such as https://calendly.com/the-sun/call');
      return z.NEVER;
    }),
  CALENDLY_SCRIPT_URL: apiAddress(usualAddresses.scheduling),
  GPT_NETWORK: id(/^\d{4,15}(?:,\d{4,15})?$/, 'network code; copy the number from the settings of Ad Manager'),
  GPT_SCRIPT_URL: apiAddress(usualAddresses.ads),
  CONSENT_PLATFORM_URL: z
    .string()
    .refine(
      (text) => webAddress(text) !== null,
      'is no address of a script; copy the one in the src of your platform’s snippet',
    )
    .optional(),
  CONSENT_PLATFORM_HOSTS: hosts('cdn.example.com or *.example.com', { wildcards: true }),
  ADS_WITHOUT_CONSENT: z
    .enum(['house', 'limited'], { error: (issue) => `is ${JSON.stringify(issue.input)}; give house or limited` })
    .default('house'),
};

type Values = z.infer<z.ZodObject<typeof thirdPartyFields>>;

export function thirdPartiesOf(values: Values): ThirdPartyConfig {
  const { GTM_CONTAINER: container, MARFEEL_ACCOUNT: account, ONESIGNAL_APP_ID: appId } = values;
  const { GROWSURF_CAMPAIGN: campaign, CALENDLY_URL: url, GPT_NETWORK: network } = values;
  const platform = values.CONSENT_PLATFORM_URL;
  return {
    consentPlatform: platform ? { scriptUrl: platform, hosts: values.CONSENT_PLATFORM_HOSTS } : null,
    thirdParties: {
      tagManager: container
        ? { container, scriptUrl: values.GTM_SCRIPT_URL ?? usualAddresses.tagManager, hosts: values.TAG_HOSTS }
        : null,
      audience: account ? { account, scriptUrl: values.MARFEEL_SCRIPT_URL ?? usualAddresses.audience } : null,
      webPush: appId ? { appId, sdkUrl: values.ONESIGNAL_SDK_URL ?? usualAddresses.webPush } : null,
      referral: campaign ? { campaign, scriptUrl: values.GROWSURF_SCRIPT_URL ?? usualAddresses.referral } : null,
      scheduling: url ? { url, scriptUrl: values.CALENDLY_SCRIPT_URL ?? usualAddresses.scheduling } : null,
      ads: network
        ? {
            network,
            scriptUrl: values.GPT_SCRIPT_URL ?? usualAddresses.ads,
            // One stand-in serves both.
            limitedScriptUrl: values.GPT_SCRIPT_URL ?? usualAddresses.limitedAds,
            withoutConsent: values.ADS_WITHOUT_CONSENT,
          }
        : null,
    },
  };
}

/** Problems of settings that depend on each other. */
export function thirdPartiesTogether(given: Readonly<Record<string, string>>): string[] {
  const needed: Readonly<Record<string, string>> = {
    GTM_SCRIPT_URL: 'GTM_CONTAINER',
    TAG_HOSTS: 'GTM_CONTAINER',
    MARFEEL_SCRIPT_URL: 'MARFEEL_ACCOUNT',
    ONESIGNAL_SDK_URL: 'ONESIGNAL_APP_ID',
    GROWSURF_SCRIPT_URL: 'GROWSURF_CAMPAIGN',
    CALENDLY_SCRIPT_URL: 'CALENDLY_URL',
    GPT_SCRIPT_URL: 'GPT_NETWORK',
    ADS_WITHOUT_CONSENT: 'GPT_NETWORK',
    CONSENT_PLATFORM_HOSTS: 'CONSENT_PLATFORM_URL',
  };
  return Object.entries(needed).flatMap(([name, id]) =>
    given[name] && !given[id] ? [`${id} is missing; set it beside ${name}, or remove ${name}`] : [],
  );
}
