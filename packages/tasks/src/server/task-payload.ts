import type { JournalEntry, Principal } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { principalIdentityOf, type RecordedPart } from '@x/exchange/internal'
import type { StateCodec } from '@x/server'
import type { ClaimedTask } from '../engines/engine.ts'
import { type MissingCapability, requeuePart } from './worker/requeue.ts'

export interface RunnableCall {
  readonly method: string
  readonly params: JsonObject
  readonly principal: Principal | undefined
  readonly journal: JsonObject
  /** What extensions recorded of the call, by their names. */
  readonly extensionRecords: Readonly<Record<string, JsonObject>>
}

/** What is stored of a call with its task. */
export interface TaskCallRecord {
  readonly id: string
  readonly request: RpcRequest
  readonly principal: Principal | undefined
  readonly journal: JsonObject
  /** What extensions record of the call, by their names. */
  readonly extensionRecords: Readonly<Record<string, RecordedPart>>
}

/** Rises with each change after which earlier versions of this package cannot run the task. */
const payloadVersion = 1

/** A token that was sealed for another purpose does not open. */
const credentialsPurpose = 'task-credentials'

const extensionRecordsPurpose = 'task-parts'

/** Whose task it is: the principal's identity as JSON, or empty without a principal. */
export function taskOwnerKeyOf(principal: Principal | undefined): string {
  return principal === undefined ? '' : JSON.stringify(principalIdentityOf(principal))
}

/** Identity and scopes are stored with a task, credentials are not. */
function principalFieldsOf(principal: Principal | undefined): JsonObject | undefined {
  if (principal === undefined) return undefined
  const { issuer, subject, client, scopes } = principal
  return {
    subject,
    ...(issuer !== undefined && { issuer }),
    ...(client !== undefined && { client }),
    ...(scopes !== undefined && { scopes }),
  }
}

/** Collects what a worker needs to run a call. With a codec, that includes the caller's sealed claims. */
export async function createPayload(
  callRecord: TaskCallRecord,
  codec: StateCodec | undefined,
  ttlMs?: number | undefined,
): Promise<JsonObject> {
  const { id, request, principal, journal } = callRecord
  const principalFields = principalFieldsOf(principal)
  const claims = principal?.claims
  const credentials = codec && claims && (await codec.seal(claims, { purpose: credentialsPurpose, binding: id, ttlMs }))
  return {
    v: payloadVersion,
    method: request.method,
    params: toStoredParams(request.params ?? {}),
    journal,
    ...(principalFields && { principal: principalFields }),
    ...(credentials !== undefined && { credentials }),
    ...(await writeExtensionRecords(callRecord, codec, ttlMs)),
  }
}

async function writeExtensionRecords(
  { id, extensionRecords }: TaskCallRecord,
  codec: StateCodec | undefined,
  ttlMs: number | undefined,
): Promise<JsonObject> {
  if (Object.keys(extensionRecords).length === 0) return {}
  const values = mapExtensionRecords(extensionRecords, ({ value }) => value)
  if (codec === undefined) return { parts: values }
  const secrets = mapExtensionRecords(extensionRecords, ({ secret }) => secret)
  const claims = { purpose: extensionRecordsPurpose, binding: id, ttlMs }
  return { parts: values, sealedParts: await codec.seal(secrets, claims) }
}

function mapExtensionRecords(
  extensionRecords: TaskCallRecord['extensionRecords'],
  selectJson: (part: RecordedPart) => JsonObject,
): Readonly<Record<string, JsonObject>> {
  return Object.fromEntries(Object.entries(extensionRecords).map(([name, part]) => [name, selectJson(part)]))
}

/** For a payload in the format of a later version, whose instances can continue the task. */
const unknownFormatCapability: MissingCapability = {
  code: errorCodes.internal,
  description: 'its format, which is of a later version',
}

/**
 * Reads the call of a claimed task, with its journal and the records of extensions, or says what this instance lacks
 * for that. Rejects if what is sealed has expired, because the call must not run without it.
 */
export async function readPayload(
  task: ClaimedTask,
  codec: StateCodec | undefined,
): Promise<RunnableCall | MissingCapability> {
  const { v, method, params, journal, principal, credentials } = task.payload
  if (v !== payloadVersion || typeof method !== 'string' || !isJsonObject(params) || !isJsonObject(journal))
    return unknownFormatCapability
  try {
    const claims =
      typeof credentials === 'string' ? await openSealed(credentials, credentialsPurpose, { task, codec }) : undefined
    const extensionRecords = await readExtensionRecords(task, codec)
    const restoredPrincipal = restorePrincipal(principal, claims)
    const restoredJournal = withEntries(journal, task.entries)
    return { method, params, principal: restoredPrincipal, journal: restoredJournal, extensionRecords }
  } catch (error) {
    if (hasExpired(error)) throw error
    // An instance with the right keys, or whose store of tokens answers, can continue the task.
    const description = 'the keys that open what the task has stored of its caller'
    return { code: errorCodes.internal, description, cause: error }
  }
}

/** No instance opens such a token. */
function hasExpired(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'expired' || error.code === 'too_old')
}

async function readExtensionRecords(
  task: ClaimedTask,
  codec: StateCodec | undefined,
): Promise<Readonly<Record<string, JsonObject>>> {
  const { parts, sealedParts } = task.payload
  if (!isJsonObject(parts)) return {}
  if (typeof sealedParts !== 'string') return parts as Readonly<Record<string, JsonObject>>
  const secrets = await openSealed(sealedParts, extensionRecordsPurpose, { task, codec })
  const joinedRecords = Object.entries(parts).map(([name, value]): [string, JsonObject] => {
    const secret = secrets[name]
    return [name, { ...(isJsonObject(value) && value), ...(isJsonObject(secret) && secret) }]
  })
  return Object.fromEntries(joinedRecords)
}

/** True if a worker will run the call without the caller's claims, because there is no codec to store them. */
export function losesCallerState({ principal }: TaskCallRecord, codec: StateCodec | undefined): boolean {
  return codec === undefined && principal?.claims !== undefined
}

/** As a worker will read it from the store; without a codec it has no claims. */
export function toRunnableCall(callRecord: TaskCallRecord, codec: StateCodec | undefined): RunnableCall {
  const { request, principal, journal } = callRecord
  const extensionRecords = mapExtensionRecords(callRecord.extensionRecords, ({ value, secret }) =>
    codec === undefined ? value : { ...value, ...secret },
  )
  const claims = codec && principal?.claims
  const { method, params = {} } = request
  return {
    method,
    params: toStoredParams(params),
    principal: restorePrincipal(principalFieldsOf(principal), claims),
    journal,
    extensionRecords,
  }
}

async function openSealed(
  token: string,
  purpose: string,
  { task, codec }: { readonly task: ClaimedTask; readonly codec: StateCodec | undefined },
): Promise<JsonObject> {
  if (codec === undefined) throw new Error('A task was created with a `state`, and this instance has none for tasks')
  const value = await codec.open(token, { purpose, binding: task.id, reusable: true })
  if (isJsonObject(value)) return value
  throw new Error('What is sealed in a task is not an object')
}

function restorePrincipal(principalFields: unknown, claims: JsonObject | undefined): Principal | undefined {
  if (!isJsonObject(principalFields)) return undefined
  const { subject, issuer, client, scopes } = principalFields
  return {
    subject: String(subject),
    ...(typeof issuer === 'string' && { issuer }),
    ...(typeof client === 'string' && { client }),
    ...(Array.isArray(scopes) && { scopes: scopes.map(String) }),
    ...(claims && { claims }),
  }
}

/**
 * Drops what concerns this one request: its progress token, its log level, and the answers of earlier rounds. A session
 * token goes too, because it works like a credential.
 */
function toStoredParams({ _meta, requestState, inputResponses, ...params }: JsonObject): JsonObject {
  const {
    [metaKeys.progressToken]: _token,
    [metaKeys.logLevel]: _level,
    [sessionMetaKey]: _session,
    ...meta
  } = isJsonObject(_meta) ? _meta : {}
  // Answers that come with a `requestState` are in the journal already.
  const hasFirstAnswers = requestState === undefined && inputResponses !== undefined
  return { ...params, ...(hasFirstAnswers && { inputResponses }), _meta: meta }
}

const sessionMetaKey = 'io.modelcontextprotocol/session'

function withEntries(journal: JsonObject, entries: readonly JournalEntry[]): JsonObject {
  const journalParts = new Map(Object.entries(journal))
  const membersByPart = new Map<string, Map<string, JsonObject[string]>>()
  for (const { member, key, value } of entries) {
    // Only the worker uses the count of requeues.
    if (member === requeuePart) continue
    if (key === undefined) {
      setMember(journalParts, member, value)
      continue
    }
    const storedPart = journalParts.get(member)
    const members = membersByPart.get(member) ?? new Map(isJsonObject(storedPart) ? Object.entries(storedPart) : [])
    membersByPart.set(member, members)
    setMember(members, key, value)
  }
  for (const [part, members] of membersByPart) journalParts.set(part, Object.fromEntries(members))
  return Object.fromEntries(journalParts)
}

function setMember(members: Map<string, JsonObject[string]>, key: string, value: JsonObject[string]): void {
  if (value === undefined) members.delete(key)
  else members.set(key, value)
}
