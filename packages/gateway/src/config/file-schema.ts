import { findClosestName, findMisspeltMembers, isJsonObject, isThisMachine, quoteText } from '@x/core'
import * as z from 'zod'
import { findUpstreamNameProblem } from '../names/names.ts'
import { findAddressProblem } from '../hop/address.ts'
import { findRuleProblem } from '../upstream/tool-rules.ts'
import { secretReference } from './secret-reader.ts'

const text = z.string().min(1)

/** An object with these members alone. An unknown one is a problem that names the closest one, and lists all. */
function members<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  const describe = (key: string): string => {
    const meant = findClosestName(key, known)
    return meant === undefined ? quoteText(key) : `${quoteText(key)} (did you mean ${quoteText(meant)}?)`
  }
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `Unrecognized key${issue.keys.length > 1 ? 's' : ''}: ${issue.keys.map(describe).join(', ')}; the members are ${known.join(', ')}`
        : undefined,
  })
}

const headerName = text.regex(/^[!#$%&'*+.^_`|~\w-]+$/, 'must be the name of a header')

const tools = members({
  allow: z.array(text).optional(),
  deny: z.array(text).optional(),
  rename: z.record(text, text).optional(),
  /** Path of the file with the accepted definitions. */
  pins: text.optional(),
})

const milliseconds = 'must be a whole number of milliseconds, such as 60000'

const common = {
  tools: tools.optional(),
  timeoutMs: z.int(milliseconds).min(1, milliseconds).optional(),
  required: z.boolean().optional(),
}

const address = z
  .string('must be a URL, written out')
  .min(1)
  .superRefine((value, context) => {
    const problem = URL.canParse(value) ? findAddressProblem(new URL(value)) : 'must be a URL'
    if (problem !== undefined) context.addIssue(problem)
  })

/** The transport or an authorizer writes these headers. */
const reservedHeader = /^(?:authorization|cookie|host|content-.*|accept|mcp-.*)$/i
const headers = z.record(
  headerName.refine((name) => !reservedHeader.test(name), 'is written by the gateway itself; use auth for a token'),
  secretReference,
)

const account = members({ issuer: z.url(), id: text, secret: secretReference })

/** For an API without metadata of its own (RFC 9728): its identifier at the issuer, and the scopes of each token. */
const givenMetadata = { resource: z.url().optional(), scopes: z.array(text).optional() }

const auth = members({
  /** Sent with every request. */
  bearer: secretReference.optional(),
  /** The gateway's own account at an authorization server (RFC 6749, section 4.4). */
  clientCredentials: members({ ...account.shape, ...givenMetadata }).optional(),
  /** Exchanges each caller's token (RFC 8693), with the gateway's own account. */
  tokenExchange: members({
    ...account.shape,
    audience: text.optional(),
    subjectIssuer: z.url().optional(),
    ...givenMetadata,
  }).optional(),
  /** Callers log in themselves. `client` is the gateway's account, if it is registered at the authorization server. */
  userLogin: members({ client: account.optional() }).optional(),
}).refine(
  (value) => Object.keys(value).length === 1,
  'must have one of bearer, clientCredentials, tokenExchange and userLogin',
)

const urlUpstream = members({ url: address, auth: auth.optional(), headers: headers.optional(), ...common })

const commandUpstream = members({
  command: text,
  args: z.array(z.string()).optional(),
  env: z.record(text, z.union([z.string(), secretReference])).optional(),
  cwd: text.optional(),
  ...common,
})

const openApiUpstream = members({
  /** Path of the document, of YAML or JSON. */
  openapi: text,
  url: address,
  auth: auth
    .refine(({ userLogin }) => userLogin === undefined, 'cannot be userLogin for an API: use tokenExchange')
    .optional(),
  headers: headers.optional(),
  /** Names of operations, or `METHOD /path` each. */
  operations: z.array(text).optional(),
  /** Methods and operations before which the user is asked. */
  confirm: z.array(text).optional(),
  idempotencyHeader: headerName.optional(),
  ...common,
})

export type OpenApiUpstream = z.infer<typeof openApiUpstream>
export type UrlUpstream = z.infer<typeof urlUpstream>
export type CommandUpstream = z.infer<typeof commandUpstream>

function describeWrongKind(value: unknown): string {
  const [misspelt] = isJsonObject(value) ? findMisspeltMembers(value, ['url', 'command']) : []
  return misspelt ?? 'must have url or command, and not both; with openapi it has url'
}

/** An upstream's schema depends on which member it has, because the problems of a union do not name a member. */
const upstream = z.unknown().transform((value, context): UrlUpstream | CommandUpstream | OpenApiUpstream => {
  const isObject = typeof value === 'object' && value !== null
  const hasUrl = isObject && 'url' in value
  if (hasUrl === (isObject && 'command' in value)) {
    context.addIssue(describeWrongKind(value))
    return z.NEVER
  }
  const ofUrl = isObject && 'openapi' in value ? openApiUpstream : urlUpstream
  const parsed = (hasUrl ? ofUrl : commandUpstream).safeParse(value)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues)
    context.addIssue({ code: 'custom', path: issue.path, message: issueMessageOf(issue) })
  return z.NEVER
})

const upstreamName = z.string().superRefine((name, context) => {
  const problem = findUpstreamNameProblem(name)
  if (problem !== undefined) context.addIssue(problem)
})

const login = members({
  /** Address of the pages. */
  url: address,
  /** URL of the gateway's Client ID Metadata Document. */
  metadataUrl: z.url().optional(),
  /** The gateway's account at its own issuer. Without one, it has `metadataUrl` or registers itself. */
  client: account.optional(),
  /** Where tokens are kept: the address of a Redis that all instances share, or the memory of the only instance. */
  store: z.union([z.literal('memory'), members({ redis: secretReference })], 'must be "memory" or { "redis": … }'),
})

const port = z.int().min(0).max(65_535)

/** A gateway's configuration, as a JSON file has it. */
export const gatewayFile = members({
  name: text,
  version: text.default('1.0.0'),
  state: members({ keys: secretReference }),
  listen: members({
    /** Platforms say the port in a variable, such as `PORT`. */
    port: z
      .union([port, z.strictObject({ env: text })], 'must be a number from 0 to 65535, or { "env": NAME }')
      .optional(),
    host: text.optional(),
    allowedHosts: z.array(text).optional(),
    /** The proxy in front reports its client's address in this header, such as `x-forwarded-for`. */
    clientAddress: headerName.optional(),
    /** Time for which calls are still served after a signal, while `/readyz` returns 503. */
    noticeMs: z.int(milliseconds).min(0, milliseconds).optional(),
    /** Time that running calls then have to finish. */
    graceMs: z.int(milliseconds).min(0, milliseconds).optional(),
    /** Access tokens that hosts need. */
    protect: members({ resource: z.url(), issuers: z.array(z.url()).min(1) }).optional(),
  }).default({}),
  login: login.optional(),
  /** A search instead of a long list of tools: true, or its options. */
  toolSearch: z
    .union([
      z.boolean(),
      members({
        above: z.int().min(0).optional(),
        results: z.int().min(1).optional(),
        always: z.array(text).optional(),
        directFor: z.array(text).optional(),
      }),
    ])
    .optional(),
  /** Each record of the log as a line of JSON. Default: lines for people. */
  log: z.literal('json', 'must be "json", or left out for lines of text').optional(),
  upstreams: z.record(upstreamName, upstream).refine((all) => Object.keys(all).length > 0, 'must have an upstream'),
})

export type GatewayFile = z.infer<typeof gatewayFile>

/** Finds problems between the members of a file, each with its place. */
export function findFileProblems(file: GatewayFile): readonly string[] {
  const ofUpstreams = Object.entries(file.upstreams).flatMap(([name, upstream]) => {
    const auth = 'url' in upstream ? (upstream.auth ?? {}) : {}
    const problem = findAuthProblem(auth, file)
    const hasLogin = auth.tokenExchange !== undefined || auth.userLogin !== undefined
    const ruleProblem = findRuleProblem(upstream.tools ?? {}, hasLogin && !('openapi' in upstream))
    return [
      ...(problem === undefined ? [] : [`upstreams.${name}.auth.${problem}`]),
      ...(ruleProblem === undefined ? [] : [`upstreams.${name}.tools: ${ruleProblem}`]),
    ]
  })
  return [...findListenProblems(file.listen), ...ofUpstreams]
}

function findListenProblems({ host = '127.0.0.1', allowedHosts, protect }: GatewayFile['listen']): readonly string[] {
  const isLocal = isThisMachine(host)
  const problems: string[] = []
  if (!isLocal && allowedHosts === undefined)
    problems.push('listen.host: can be reached from other machines: add allowedHosts, the names by which they call it')
  if (protect === undefined && !(isLocal && (allowedHosts ?? []).every(isThisMachine)))
    problems.push('listen: can be reached from other machines: add protect, which verifies the callers')
  return problems
}

/** Only a verified caller has a token, or can log in, so callers' credentials must be verifiable. */
function findAuthProblem(
  { tokenExchange, userLogin }: NonNullable<UrlUpstream['auth']>,
  { listen, login: pages }: GatewayFile,
): string | undefined {
  const issuers = listen.protect?.issuers ?? []
  if (tokenExchange !== undefined) {
    const { issuer, subjectIssuer = issuer } = tokenExchange
    if (issuers.includes(subjectIssuer)) return undefined
    return 'tokenExchange: must exchange tokens of an issuer in listen.protect.issuers: name it as issuer or as subjectIssuer'
  }
  if (userLogin === undefined || (pages !== undefined && issuers.length > 0)) return undefined
  return 'userLogin: needs login, with the pages, and listen.protect, which verifies the user'
}

/** Lists the problems of a parsed file, each with its place. Values are left out, because they may be secrets. */
export function describeIssues({ issues }: z.ZodError): readonly string[] {
  return issues.map((issue) => {
    const place = issue.path.map(String).join('.')
    return place === '' ? issueMessageOf(issue) : `${place}: ${issueMessageOf(issue)}`
  })
}

/** An issue of a key has its reason in issues of its own. */
function issueMessageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => message).join('; ')
  return issue.message.replace(/^Invalid input: expected (\w+), received undefined$/, 'is missing, of the type $1')
}
