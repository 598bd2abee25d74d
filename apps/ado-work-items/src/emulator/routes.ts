import * as z from 'zod'
import { fieldsOf, findType } from './apply-patch.ts'
import type { SeedWorkItem } from './seed.ts'
import { invalid, ServiceError } from './service-error.ts'
import type { Store } from './store.ts'

/** A complete request. */
export interface EmulatorRequest {
  readonly method: string
  /** The decoded segments of the path after `_apis`. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly contentType: string
  readonly body: unknown
}

/** The dependencies of a route. */
export interface RouteScope {
  readonly store: Store
  /** The URL of the organization, which the URLs of work items begin with. */
  readonly organizationUrl: string
  readonly project: string
}

type Route = (request: EmulatorRequest, scope: RouteScope) => unknown

/** The handlers by path; `*` matches any one segment. Paths are compared case-insensitively. */
const routes: readonly (readonly [method: string, path: string, route: Route])[] = [
  ['GET', 'projects/*', projectRoute],
  ['GET', 'work/processes/*/workitemtypes', typesRoute],
  ['GET', 'work/processes/*/workitemtypes/*/rules', rulesRoute],
  ['GET', 'wit/workitemtypes/*/fields', fieldsRoute],
  ['GET', 'wit/workitems/*', getRoute],
  ['PATCH', 'wit/workitems/*', patchRoute],
  ['POST', 'wit/wiql', queryRoute],
  ['POST', 'wit/workitemsbatch', batchRoute],
  // This route does not exist in the service. The application restores its work items with it after the walk-through.
  ['POST', 'emulator/reset', (_, { store }) => store.reset()],
]

/** Returns the JSON of the response. Throws {@link ServiceError}. */
export function answer(request: EmulatorRequest, scope: RouteScope): unknown {
  if (request.query.get('api-version') !== '7.1') {
    const message = 'No api-version was supplied for the request. This emulator knows 7.1.'
    throw new ServiceError(400, 'VssVersionNotSpecifiedException', message)
  }
  const path = request.path.map((segment) => segment.toLowerCase())
  const found = routes.find(([method, pattern]) => method === request.method && matches(pattern.split('/'), path))
  if (found === undefined) {
    const message = `This emulator does not have ${request.method} _apis/${request.path.join('/')}.`
    throw new ServiceError(404, 'VssResourceNotFoundException', message)
  }
  return found[2](request, scope)
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length === path.length && pattern.every((segment, index) => segment === '*' || segment === path[index])
}

function projectRoute(_: EmulatorRequest, { store, project }: RouteScope): unknown {
  return { name: project, capabilities: { processTemplate: { templateTypeId: store.process.id } } }
}

function typesRoute(_: EmulatorRequest, { store }: RouteScope): unknown {
  return { value: store.process.types.map(({ name, referenceName }) => ({ name, referenceName })) }
}

function rulesRoute({ path }: EmulatorRequest, { store }: RouteScope): unknown {
  return { value: findType(store.process, path[4] ?? '').rules }
}

function fieldsRoute({ path }: EmulatorRequest, { store }: RouteScope): unknown {
  const fields = fieldsOf(store.process, findType(store.process, path[2] ?? ''))
  return { value: fields.map(({ referenceName, name, allowedValues }) => ({ referenceName, name, allowedValues })) }
}

function getRoute({ path, query }: EmulatorRequest, scope: RouteScope): unknown {
  return wire(scope.store.get(readId(path[2])), scope, query)
}

function patchRoute({ path, query, contentType, body }: EmulatorRequest, scope: RouteScope): unknown {
  if (contentType !== 'application/json-patch+json') {
    const message = `The Content-Type "${contentType}" is not supported.`
    throw new ServiceError(415, 'VssRequestContentTypeNotSupportedException', message)
  }
  return wire(scope.store.patch(readId(path[2]), body), scope, query)
}

const queryBody = z.object({ query: z.string() })

function queryRoute({ query, body }: EmulatorRequest, { store }: RouteScope): unknown {
  const items = store.query(read(queryBody, body).query).slice(0, Number(query.get('$top')))
  return { workItems: items.map(({ id }) => ({ id })) }
}

const batchBody = z.object({
  ids: z.array(z.number().int()).max(200),
  fields: z.array(z.string()),
  errorPolicy: z.literal('omit'),
})

function batchRoute({ body }: EmulatorRequest, { store, organizationUrl }: RouteScope): unknown {
  const { ids, fields } = read(batchBody, body)
  const items = ids.map((id) => {
    const item = store.find(id)
    if (item === undefined) return null
    const chosen = Object.entries(item.fields).filter(([name]) => fields.includes(name))
    return { id, rev: item.rev, fields: Object.fromEntries(chosen), url: urlOf(id, organizationUrl) }
  })
  return { value: items }
}

function wire(item: SeedWorkItem, { organizationUrl }: RouteScope, query: URLSearchParams): unknown {
  const relations = item.relations.map(({ rel, target }) => ({ rel, url: urlOf(target, organizationUrl) }))
  return {
    id: item.id,
    rev: item.rev,
    fields: item.fields,
    ...(relations.length > 0 && query.get('$expand') === 'relations' ? { relations } : {}),
    url: urlOf(item.id, organizationUrl),
  }
}

function urlOf(id: number, organizationUrl: string): string {
  return `${organizationUrl}/_apis/wit/workItems/${id}`
}

function readId(segment: string | undefined): number {
  if (/^\d{1,10}$/.test(segment ?? '')) return Number(segment)
  throw invalid(`The value "${segment}" is not valid for id.`)
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw invalid('You must pass a valid body.')
}
