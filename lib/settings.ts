import type { TableLocation } from './dynamodb/connection/client.ts';
import { parseTableUrl } from './dynamodb/connection/table-url.ts';

/** The texts of settings, by their variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What a setting may be. */
export interface SettingKind<Value> {
  /** Completes the sentences "NAME is not …" and "NAME has to be …". */
  readonly description: string;
  /** @returns the value, or `undefined` when the text, which is not blank, is not of this kind */
  readonly parse: (text: string, environment: Environment) => Value | undefined;
}

export interface Setting<Value = unknown> {
  readonly kind: SettingKind<Value>;
  /** Its text when it is not set. The empty text means that the setting may be blank, and then has no value. */
  readonly default?: string;
}

export interface FunctionSetting extends Setting {
  /** The variable in the environment of a function, and in `.env`. */
  readonly variable: string;
  /** Nobody but the functions may read it. It comes from Secrets Manager, and a stage has no parameter for it. */
  readonly isSecret?: true;
}

export const text: SettingKind<string> = {
  // Stryker disable next-line StringLiteral: never shown, because every text is one
  description: 'a text',
  parse: (value) => value,
};

/** The origin of a web site, as browsers send it (RFC 6454 section 6.2). */
const webOrigin: SettingKind<string> = {
  description: 'the origin of a web site, like https://docs.example.com',
  // URLs may have other characters in a host, such as quotation marks, but no web site has them.
  parse: (value) => (URL.parse(value)?.origin === value && /^http[\w.:/[\]-]+$/.test(value) ? value : undefined),
};

const tableUrl: SettingKind<TableLocation> = {
  description:
    'the URL of a DynamoDB endpoint with a table name of 3 to 255 letters, digits, "_", "-" or "." as its path, like ' +
    'https://dynamodb.eu-west-1.amazonaws.com/books or http://127.0.0.1:8000/books',
  parse: (url, { AWS_REGION }) => parseTableUrl(url, AWS_REGION || undefined),
};

export const wholeNumber = (unit: string, minimum: number, maximum: number): SettingKind<number> => ({
  description: `a whole number of ${unit}, ${minimum} to ${maximum}`,
  parse: (digits) => {
    const isInRange = /^(0|[1-9]\d*)$/.test(digits) && Number(digits) >= minimum && Number(digits) <= maximum;
    return isInRange ? Number(digits) : undefined;
  },
});

/**
 * The settings of the functions. A stage has a parameter with the name of a setting, unless the stack makes the value:
 * the secrets, the username and the table. Tests compare this table with serverless.yml, serverless/stages.yml and the documents.
 */
export const settings = {
  signingSecret: { variable: 'SECRET_TOKEN', kind: text, isSecret: true },
  corsOrigin: { variable: 'CORS_ORIGIN', kind: webOrigin, default: '' },
  username: { variable: 'AUTH_USERNAME', kind: text },
  password: { variable: 'AUTH_PASSWORD', kind: text, isSecret: true },
  tokenLifetime: { variable: 'TOKEN_LIFETIME', kind: wholeNumber('seconds', 60, 86_400), default: '900' },
  table: { variable: 'DB_URL', kind: tableUrl },
} as const satisfies Record<string, FunctionSetting>;

/** The values that a table of settings describes. */
export type SettingValues<Table extends Readonly<Record<string, Setting>>> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly default: '' }
    ? SettingValue<Table[Name]> | undefined
    : SettingValue<Table[Name]>;
};

type SettingValue<Of extends Setting> = Exclude<ReturnType<Of['kind']['parse']>, undefined>;
