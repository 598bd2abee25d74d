import { isWholeNumber, listIn, readVariables, serverVariables, setting } from '@apps/front/environment'
import { sealedState, type StateCodec } from '@x/server'
import { basicAuthorization, type Connection } from './azure-devops/connection.ts'

export { ConfigurationError } from '@apps/front/environment'

/** The settings of an instance. */
export interface Configuration {
  /** The port to listen on; 0 selects a free one. */
  readonly port: number
  readonly host: string
  /** The host names that the server accepts. Default: the names of the local machine. */
  readonly allowedHosts: readonly string[] | undefined
  readonly azureDevOps: Connection | undefined
  /** The codec that seals the state that travels with clients. */
  readonly state: StateCodec | undefined
  /** The database of tasks, as a `postgres://` URL with its password; a secret. */
  readonly tasksDatabase: string | undefined
  /**
   * The time in milliseconds after which another instance takes a task over if its instance has not renewed its lease.
   * Default: the engine's.
   */
  readonly takeoverMs: number | undefined
  readonly authorization: Authorization | undefined
  /** The number of this instance in a fleet, which its responses contain. */
  readonly instance: number | undefined
}

/** The authorization servers whose tokens the server accepts. */
export interface Authorization {
  /** The URL of the endpoint, which is the audience of its tokens. */
  readonly resource: string
  readonly issuers: readonly string[]
  /** `true` if tokens must be bound to the key of the client (DPoP). */
  readonly dpopRequired: boolean
}

const azureNames = ['AZURE_DEVOPS_ORG', 'AZURE_DEVOPS_PROJECT', 'AZURE_DEVOPS_TOKEN'] as const
const organizationName = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,48}[A-Za-z0-9])?$/
const audience = 'ado-work-items'

const variables = {
  ...serverVariables,
  TASKS_DATABASE: setting(
    'a URL such as postgres://user:password@host:5432/database',
    (text) => /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text),
  ),
  TASKS_TAKEOVER_MS: setting('a whole number of milliseconds from 500 to 3600000', isWholeNumber(500, 3_600_000)),
  AZURE_DEVOPS_URL: setting('an address such as https://dev.azure.com', URL.canParse),
  AZURE_DEVOPS_ORG: setting('the name in https://dev.azure.com/<name>, or that address', (text) =>
    organizationName.test(organizationIn(text)),
  ),
  AZURE_DEVOPS_PROJECT: setting('the name of a project', () => true),
  AZURE_DEVOPS_TOKEN: setting('a personal access token', () => true),
  AUTH_ISSUERS: setting('addresses of authorization servers, with commas between them', (text) =>
    listIn(text).every((issuer) => URL.canParse(issuer)),
  ),
  AUTH_RESOURCE: setting('the endpoint as clients write it, such as https://mcp.example.com/mcp', URL.canParse),
  AUTH_DPOP: setting('"accepted" or "required"', (text) => text === 'accepted' || text === 'required'),
  INSTANCE: setting('a whole number from 1 to 99999', isWholeNumber(1, 99_999)),
}

/** The name of an environment variable. */
export type Variable = keyof typeof variables

/** The variables that an instance requires. */
export const instanceVariables: readonly Variable[] = ['STATE_KEYS', 'TASKS_DATABASE', ...azureNames]

/**
 * Reads the settings from the environment. An empty variable counts as absent.
 *
 * @throws ConfigurationError with all problems at once. It contains no values, because some of them are secrets.
 */
export function readConfiguration(environment: NodeJS.ProcessEnv, required: readonly Variable[] = []): Configuration {
  const data = readVariables(variables, environment, { required, impliedBy })
  return {
    port: Number(data.PORT ?? 4522),
    host: data.HOST ?? '127.0.0.1',
    allowedHosts: ifSet(data.ALLOWED_HOSTS, listIn),
    azureDevOps: connectionIn(data),
    state: ifSet(data.STATE_KEYS, (keys) => sealedState({ keys: listIn(keys), audience })),
    tasksDatabase: data.TASKS_DATABASE,
    takeoverMs: ifSet(data.TASKS_TAKEOVER_MS, Number),
    authorization: authorizationIn(data),
    instance: ifSet(data.INSTANCE, Number),
  }
}

function ifSet<Value>(text: string | undefined, read: (text: string) => Value): Value | undefined {
  return text === undefined ? undefined : read(text)
}

/** Returns the variables that other variables make required. */
function impliedBy(given: Readonly<Record<string, string | undefined>>): readonly Variable[] {
  return [
    ...(azureNames.some((name) => given[name] !== undefined) ? azureNames : []),
    ...(given['AUTH_ISSUERS'] === undefined ? [] : (['AUTH_RESOURCE'] as const)),
  ]
}

type Values = ReturnType<typeof readVariables<typeof variables>>

function connectionIn(values: Values): Connection | undefined {
  const { AZURE_DEVOPS_ORG: organization, AZURE_DEVOPS_PROJECT: project, AZURE_DEVOPS_TOKEN: token } = values
  if (organization === undefined || project === undefined || token === undefined) return undefined
  return {
    baseUrl: (values.AZURE_DEVOPS_URL ?? 'https://dev.azure.com').replace(/\/+$/, ''),
    organization: organizationIn(organization),
    project,
    authorization: basicAuthorization(token),
  }
}

function authorizationIn(values: Values): Authorization | undefined {
  const { AUTH_ISSUERS: issuers, AUTH_RESOURCE: resource } = values
  if (issuers === undefined || resource === undefined) return undefined
  return {
    resource,
    issuers: listIn(issuers),
    dpopRequired: values.AUTH_DPOP === 'required',
  }
}

function organizationIn(text: string): string {
  return text.replace(/^https:\/\/dev\.azure\.com\//i, '').replace(/\/$/, '')
}
