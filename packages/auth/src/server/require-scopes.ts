import { checkArgument, requireSync } from '@x/core'
import { type Call, type ExtensionHost, type Principal, type ServerExtension, transportKey } from '@x/exchange'
import { createMissingScopesError, logMissingScopes } from '@x/exchange/internal'
import { errorResponse, findMethodRow, isJsonObject, type JsonObject, methods } from '@x/schema'
import { parseScopes, compileImpliedScopes, expandScopes, type ImpliedScopes, type Scopes } from '../scopes.ts'

/** Says which scopes a request needs. `params` come from the client and have not been checked. */
export type ScopesOf = (params: JsonObject, principal: Principal | undefined) => Scopes

/**
 * Scopes that requests need, by method: an array for all requests of the method, an object with an array for each name
 * or URI, or a function of the request. In an object, `'*'` applies to every name that is not listed.
 */
export type ScopeRules = Readonly<Record<string, Scopes | Readonly<Record<string, Scopes>> | ScopesOf>>

/** Options of {@link requireScopes}. */
export interface RequireScopesOptions {
  /** What each scope includes. Needed only if a function of your own makes the principal instead of `protect`. */
  readonly impliedScopes?: ImpliedScopes | undefined
  /**
   * `'trusted'` accepts calls over stdio without a principal, because they come from the host that started this
   * process. By default such calls are rejected.
   */
  readonly stdio?: 'trusted' | undefined
}

/**
 * Requires scopes for single operations. A call that lacks one gets an error with all that it needs, before any handler
 * runs; the `auth` of {@link protect} turns that into a 403 response, and clients ask their user for more scopes. A
 * task's scopes are checked when it is created. With this extension, HTTP hosts serve other machines only if the option
 * `auth` is set.
 *
 * @example
 * createServer({ ...definition, extensions: [requireScopes({ 'tools/call': { update_item: ['items:write'] } })] })
 *
 * @throws TypeError for a rule that can never apply, and for a malformed scope.
 */
export function requireScopes(
  rules: ScopeRules,
  options: RequireScopesOptions = {},
): ServerExtension<'scopes', undefined> {
  checkArgument(rules, { where: 'requireScopes', takes: 'an object with scopes by method' })
  const compiledRules = new Map(Object.entries(rules).map(([method, rule]) => [method, compileRule(method, rule)]))
  const impliedScopes = compileImpliedScopes(options.impliedScopes)
  return {
    extends: 'server',
    name: 'scopes',
    identifier: 'x.auth/scopes',
    needsPrincipal: true,
    start: (host) => {
      const { log } = host
      warnOfAbsentNames(rules, host)
      return {
        middleware: (next) => async (request, call) => {
          const neededScopes = compiledRules.get(request.method)?.(request.params ?? {}, call.principal) ?? []
          const isGranted =
            neededScopes.length === 0 ||
            isTrustedCall(call, options) ||
            hasGrantedScopes(call.principal, neededScopes, impliedScopes)
          if (isGranted) return next(request, call)
          const error = createMissingScopesError(neededScopes)
          const { principal } = call
          logMissingScopes(error, { request, principal, log }, expandScopes(principal?.scopes ?? [], impliedScopes))
          return errorResponse(request.id, error)
        },
      }
    },
  }
}

/**
 * A misspelt tool or prompt would stay open to everybody. Only a warning, since it may come later, or another server may
 * have it. The names of a gateway are not known at its start.
 */
function warnOfAbsentNames(rules: ScopeRules, host: ExtensionHost): void {
  const names = host.tools().map(({ name }) => name)
  if (names.length === 0) return
  const hasPrompt = (name: string): boolean =>
    host.offers({ jsonrpc: '2.0', id: 0, method: 'prompts/get', params: { name } })?.name !== undefined
  for (const [method, kind, isOffered] of [
    ['tools/call', 'tools', (name: string) => names.includes(name)],
    ['prompts/get', 'prompts', hasPrompt],
  ] as const) {
    const rule = rules[method]
    const absent = isJsonObject(rule) ? Object.keys(rule).filter((name) => name !== '*' && !isOffered(name)) : []
    if (absent.length === 0) continue
    const message = `requireScopes has rules for ${kind} that the server does not have: ${absent.join(', ')}`
    host.log({ level: 'warn', code: 'tool_rule_unmatched', message })
  }
}

/**
 * Requires scopes inside a handler, for scopes that depend on data. Call it before the handler has any effect or sends
 * a notification. Once the HTTP response is a stream, the error comes without a challenge.
 *
 * @throws McpError with all the given scopes, if the caller lacks one of them or has no principal.
 */
export function needScopes(ctx: { readonly principal: Principal | undefined }, ...scopes: readonly string[]): void {
  const neededScopes = parseScopes('needScopes', scopes)
  if (neededScopes.length > 0 && !hasGrantedScopes(ctx.principal, neededScopes, new Map()))
    throw createMissingScopesError(neededScopes)
}

function hasGrantedScopes(
  principal: Principal | undefined,
  neededScopes: Scopes,
  impliedScopes: ReadonlyMap<string, Scopes>,
): boolean {
  if (principal === undefined) return false
  const grantedScopes = expandScopes(principal.scopes ?? [], impliedScopes)
  return neededScopes.every((scope) => grantedScopes.includes(scope))
}

function isTrustedCall(call: Call, { stdio }: RequireScopesOptions): boolean {
  return stdio === 'trusted' && call.principal === undefined && call.context.get(transportKey) === 'stdio'
}

function compileRule(method: string, rule: ScopeRules[string]): ScopesOf {
  checkMethodName(method)
  if (typeof rule === 'function')
    return (params, principal) =>
      parseScopes(`The rule of ${method}`, requireSync(`The rule of ${method}`, rule(params, principal)))
  if (Array.isArray(rule)) {
    const scopes = parseScopes(`The rule of ${method}`, rule)
    return () => scopes
  }
  return compileNameRule(method, rule)
}

function compileNameRule(method: string, rule: ScopeRules[string]): ScopesOf {
  const nameField = findMethodRow(method)?.targetParam
  if (nameField === undefined)
    throw new TypeError(`Requests of ${method} are about no name or URI: give an array of scopes, or a function`)
  if (!isJsonObject(rule)) throw new TypeError(`The rule of ${method} must be an array, an object or a function`)
  const scopeEntries = Object.entries(rule).map(([name, scopes]): [string, Scopes] => [
    name,
    parseScopes(`The rule of ${method} for "${name}"`, scopes),
  ])
  const scopesByName = new Map(scopeEntries)
  const defaultScopes = scopesByName.get('*') ?? []
  return (params) => {
    const name = params[nameField]
    return (typeof name === 'string' ? scopesByName.get(name) : undefined) ?? defaultScopes
  }
}

// A rule for a misspelled method would protect nothing, so an unknown one is rejected if its prefix is a prefix of the
// protocol's methods.
function checkMethodName(method: string): void {
  const methodPrefix = method.slice(0, method.indexOf('/') + 1)
  const knownMethods = Object.keys(methods)
  if (
    knownMethods.includes(method) ||
    !(methodPrefix === '' || knownMethods.some((name) => name.startsWith(methodPrefix)))
  )
    return
  throw new TypeError(`There is no method ${JSON.stringify(method)}: write one of ${knownMethods.join(', ')}`)
}
