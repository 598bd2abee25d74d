import * as z from 'zod'
import { parseRules, type Rule } from '../rules/rule.ts'
import { AzureDevOpsError } from './azure-devops-error.ts'
import type { Connection } from './connection.ts'
import { createMemo } from './memo.ts'
import { buildPatch, type WorkItemChange } from './patch.ts'
import { createSend, type RestCall, type Send, type SendLimits } from './send.ts'
import { buildWiql, type WorkItemFilters } from './wiql.ts'
import { parseWorkItem, type WorkItem } from './work-item.ts'
import { parseFieldDefinitions, parseProcessId, parseTypeReference, type WorkItemType } from './work-item-type.ts'

/**
 * The operations of Azure DevOps that this application uses. Every function rejects with `AzureDevOpsError`, or with
 * the signal's reason.
 */
export interface AzureDevOps {
  readonly organization: string
  readonly project: string
  getWorkItem(id: number, signal: AbortSignal): Promise<WorkItem>
  /** Reads up to 200 work items with the fields that lists show. Ids without a work item are left out. */
  getWorkItems(ids: readonly number[], signal: AbortSignal): Promise<readonly WorkItem[]>
  /** Finds at most `top` work items, and reports whether more match. */
  findWorkItems(search: Search, signal: AbortSignal): Promise<Found>
  updateWorkItem(id: number, change: WorkItemChange, signal: AbortSignal): Promise<WorkItem>
  /** Returns the rules and fields of a type. They are cached for five minutes, because processes change rarely. */
  workItemType(name: string): Promise<WorkItemType>
  /** Returns the URL that a link to the work item contains. */
  workItemUrl(id: number): string
}

/** A search, with the maximum number of results (1 to 200). */
export interface Search {
  readonly filters: WorkItemFilters
  readonly top: number
}

/** The result of a search; `more` is `true` if further work items match. */
export interface Found {
  readonly workItems: readonly WorkItem[]
  readonly more: boolean
}

const apiVersion = '7.1'
const listFields = [
  'System.Id',
  'System.Rev',
  'System.WorkItemType',
  'System.Title',
  'System.State',
  'System.AssignedTo',
  'System.ChangedDate',
]
const wireQuery = z.object({ workItems: z.array(z.object({ id: z.number().int() })) })
const wireBatch = z.object({ value: z.array(z.unknown()) })

/** Creates a client of the REST API of Azure DevOps, version 7.1. */
export function createAzureDevOps(connection: Connection, limits?: Partial<SendLimits>): AzureDevOps {
  const { organization, project } = connection
  const rest = createRest(connection, createSend(connection.authorization, limits))
  const types = createMemo((name: string) => loadType(rest, name), { ttlMs: 300_000 })
  return {
    organization,
    project,
    getWorkItem: async (id, signal) =>
      parseAnswer(
        parseWorkItem,
        await rest.project({ method: 'GET', path: `wit/workitems/${id}?$expand=relations`, signal }),
      ),
    getWorkItems: (ids, signal) => readBatch(rest, ids, signal),
    findWorkItems: (search, signal) => findWorkItems(rest, search, signal),
    updateWorkItem: async (id, change, signal) =>
      parseAnswer(
        parseWorkItem,
        await rest.project({
          method: 'PATCH',
          path: `wit/workitems/${id}?$expand=relations`,
          body: buildPatch(change),
          contentType: 'application/json-patch+json',
          signal,
        }),
      ),
    workItemType: types,
    workItemUrl: (id) => `${rest.organizationUrl}/_apis/wit/workItems/${id}`,
  }
}

interface Rest {
  readonly projectName: string
  readonly organizationUrl: string
  organization(call: PathCall): Promise<unknown>
  project(call: PathCall): Promise<unknown>
}

/** A call with the part of the path after `_apis/`. */
type PathCall = Omit<RestCall, 'url'> & { readonly path: string }

function createRest(connection: Connection, send: Send): Rest {
  const organizationUrl = `${connection.baseUrl}/${encodeURIComponent(connection.organization)}`
  const projectUrl = `${organizationUrl}/${encodeURIComponent(connection.project)}`
  const call =
    (base: string) =>
    ({ path, ...rest }: PathCall) =>
      send({ ...rest, url: `${base}/_apis/${path}${path.includes('?') ? '&' : '?'}api-version=${apiVersion}` })
  return {
    projectName: connection.project,
    organizationUrl,
    organization: call(organizationUrl),
    project: call(projectUrl),
  }
}

async function findWorkItems(rest: Rest, { filters, top }: Search, signal: AbortSignal): Promise<Found> {
  // One more result than requested shows whether there are more.
  const path = `wit/wiql?$top=${top + 1}`
  const answer = await rest.project({ method: 'POST', path, body: { query: buildWiql(filters) }, signal })
  const ids = parseAnswer((value) => wireQuery.parse(value).workItems.map((item) => item.id), answer)
  // A work item that was deleted after the query is left out and does not fail the whole list.
  return { workItems: await readBatch(rest, ids.slice(0, top), signal), more: ids.length > top }
}

async function readBatch(rest: Rest, ids: readonly number[], signal: AbortSignal): Promise<readonly WorkItem[]> {
  if (ids.length === 0) return []
  const body = { ids, fields: listFields, errorPolicy: 'omit' }
  const batch = await rest.project({ method: 'POST', path: 'wit/workitemsbatch', body, signal })
  return parseAnswer(
    (value) =>
      wireBatch
        .parse(value)
        .value.filter((item) => item !== null)
        .map(parseWorkItem),
    batch,
  )
}

async function loadType(rest: Rest, name: string): Promise<WorkItemType> {
  // Concurrent callers share this load, so the signal of one caller must not abort it. Each call has a timeout.
  const { signal } = new AbortController()
  const path = `wit/workitemtypes/${encodeURIComponent(name)}/fields?$expand=allowedValues`
  const [rules, fields] = await Promise.all([
    loadRules(rest, name, signal),
    rest.project({ method: 'GET', path, signal }),
  ])
  return { rules, fields: parseAnswer(parseFieldDefinitions, fields) }
}

async function loadRules(rest: Rest, name: string, signal: AbortSignal): Promise<readonly Rule[]> {
  const get = (path: string) => rest.organization({ method: 'GET', path, signal })
  try {
    const project = await get(`projects/${encodeURIComponent(rest.projectName)}?includeCapabilities=true`)
    const types = `work/processes/${encodeURIComponent(parseAnswer(parseProcessId, project))}/workItemTypes`
    const reference = parseAnswer((value) => parseTypeReference(value, name), await get(types))
    if (reference === undefined) return []
    return parseAnswer(parseRules, await get(`${types}/${encodeURIComponent(reference)}/rules`))
  } catch (error) {
    // Older process models have no rules API, and a token may lack the permission to read rules. The service enforces
    // the rules in any case.
    if (error instanceof AzureDevOpsError && ['not_found', 'forbidden', 'invalid'].includes(error.code)) return []
    throw error
  }
}

function parseAnswer<T>(parse: (value: unknown) => T, value: unknown): T {
  try {
    return parse(value)
  } catch (cause) {
    throw new AzureDevOpsError('unexpected', 'Azure DevOps answered in a form that this version does not know.', {
      cause,
    })
  }
}
