/**
 * A vendor's options without the index signature that some declarations carry (`[key: string]: unknown`), for `satisfies`: with it every
 * misspelled name would pass.
 */
export type Declared<Options> = {
  [Name in keyof Options as string extends Name ? never : Name]: Options[Name];
};
