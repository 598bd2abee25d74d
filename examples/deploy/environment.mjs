import { readFileSync } from 'node:fs'
import { sealedState } from '@x/server'
import * as z from 'zod'
import { openDatabase } from './database.mjs'

const list = z.string().transform((text) => text.split(',').map((entry) => entry.trim()))
const port = z.coerce.number('it should be a port from 0 to 65535').int().min(0).max(65_535)
const database = z.string().regex(/^postgres(ql)?:\/\//, 'it should begin with postgres://')

const variables = {
  PORT: port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  // The names by which clients call the server. Needed as soon as HOST is not this machine.
  ALLOWED_HOSTS: list.optional(),
  // Keys of 32 random bytes, as "openssl rand -hex 32" prints them, the newest first: with commas, or one a line of a file.
  STATE_KEYS: list.optional(),
  STATE_KEYS_FILE: z.string().optional(),
  // The PostgreSQL that all instances share: for tasks, changes, and the questions of older clients.
  DATABASE_URL: database.optional(),
  // The same database without a pooler in between, if DATABASE_URL is that of PgBouncer with transaction pooling.
  DATABASE_LISTEN_URL: database.optional(),
  // The header in which a proxy in front reports the address of its client, such as x-forwarded-for.
  CLIENT_ADDRESS_HEADER: z.string().toLowerCase().optional(),
}

/** Reads the settings of the server from the environment. Throws one error with all problems and without values. */
export function readEnvironment(environment = process.env) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const data = {}
  const problems = []
  for (const [name, schema] of Object.entries(variables)) {
    const result = schema.safeParse(given[name])
    data[name] = result.data
    for (const { message } of result.error?.issues ?? []) problems.push(`${name} cannot be used: ${message}`)
  }
  const keys = readKeys(data, problems)
  if (!isThisMachine(data.HOST) && data.ALLOWED_HOSTS === undefined)
    problems.push('ALLOWED_HOSTS is not set: it should have the names by which clients call the server')
  if (problems.length > 0) throw new Error(`The environment cannot be used:\n${problems.join('\n')}`)
  return {
    state: sealedState({ keys }),
    database: openDatabase(data.DATABASE_URL, data.DATABASE_LISTEN_URL),
    http: {
      port: data.PORT,
      host: data.HOST,
      allowedHosts: data.ALLOWED_HOSTS,
      clientAddress: addressReader(data.CLIENT_ADDRESS_HEADER),
    },
  }
}

function readKeys({ STATE_KEYS: keys, STATE_KEYS_FILE: file }, problems) {
  if ((keys === undefined) === (file === undefined)) {
    problems.push('STATE_KEYS or STATE_KEYS_FILE must be set, and not both')
    return []
  }
  try {
    const given =
      keys ??
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean)
    sealedState({ keys: given })
    return given
  } catch (error) {
    problems.push(`${keys === undefined ? 'STATE_KEYS_FILE' : 'STATE_KEYS'} cannot be used: ${error.message}`)
    return []
  }
}

function isThisMachine(host) {
  return ['127.0.0.1', '::1', 'localhost'].includes(host)
}

/** A proxy appends the address that it sees, so the last entry is the one that a client cannot invent. */
function addressReader(name) {
  return name === undefined ? undefined : (request) => request.header(name)?.split(',').at(-1)?.trim()
}
