import { createHash } from 'node:crypto'

/** A script, and the SHA-1 digest by which Redis finds it again. */
export interface Script {
  readonly text: string
  readonly digest: string
}

/** Fields of a task's hash, in the order of a reply. */
export const rowFields = [
  'id',
  'status',
  'message',
  'progress',
  'created',
  'updated',
  'expires',
  'requests',
  'outcome',
  'owner',
  'tool',
  'attempt',
  'failures',
  'worker',
  'token',
] as const

/*
 * A task is four keys: `task:` is a hash with its fields, `journal:` and `answers:` are hashes of JSON texts, and
 * `open:` is the set of its unanswered requests. Sorted sets find tasks: `due` by the time at which they became ready
 * or at which their pause or lease ends, `waiting` those of their clients, `created`, `expiries`, and for each caller
 * `kept:` by expiry and `ended:` by the time of the end. All times are microseconds of the server's clock. A lifetime,
 * an expiry or an optional text that is absent is the empty text.
 */
const library = `
local prefix = ARGV[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local due, waiting, created = prefix .. 'due', prefix .. 'waiting', prefix .. 'created'
local expiries, callers = prefix .. 'expiries', prefix .. 'callers'

local function arg(index) return ARGV[index + 2] end
local function keyOf(kind, id) return prefix .. kind .. ':' .. id end
local function keysOf(id) return { keyOf('task', id), keyOf('journal', id), keyOf('answers', id), keyOf('open', id) } end
local function set(id, ...) redis.call('HSET', keyOf('task', id), ...) end
local function notify(text) redis.call('PUBLISH', prefix .. 'changes', text) end
local function notifyWork() notify(ARGV[2]) end

-- Returns the given fields of a task by their names. Nil if there is no task, or if its lifetime has ended.
local function find(id, ...)
  local names = { 'expires', 'caller', 'fixed', 'status', 'token', 'cancelling', 'created', ... }
  local values = redis.call('HMGET', keyOf('task', id), unpack(names))
  if not values[1] or (values[1] ~= '' and tonumber(values[1]) <= now) then return nil end
  local task = { id = id }
  for index, name in ipairs(names) do task[name] = values[index] end
  return task
end

-- Returns a task whose current claim has the token.
local function findLeased(id, token, ...)
  local task = find(id, ...)
  return task and token ~= '' and task.token == token and task or nil
end

local function isOpen(task) return task.status == 'working' or task.status == 'input_required' end

local function drop(id, knownCaller)
  local caller = knownCaller or redis.call('HGET', callers, id)
  redis.call('DEL', unpack(keysOf(id)))
  for _, key in ipairs({ due, waiting, created, expiries }) do redis.call('ZREM', key, id) end
  redis.call('HDEL', callers, id)
  if caller then
    redis.call('ZREM', keyOf('kept', caller), id)
    redis.call('ZREM', keyOf('ended', caller), id)
  end
end

-- Redis itself deletes the keys of a task whose lifetime has ended. The sorted sets are swept.
local function expireKeys(task)
  for _, key in ipairs(keysOf(task.id)) do
    if task.expires == '' then redis.call('PERSIST', key)
    else redis.call('PEXPIREAT', key, math.ceil(math.min(task.expires, 8e15) / 1000)) end
  end
end

local function setExpiry(task, expires)
  task.expires = expires
  set(task.id, 'expires', expires)
  redis.call('ZADD', keyOf('kept', task.caller), expires == '' and '+inf' or expires, task.id)
  if expires == '' then redis.call('ZREM', expiries, task.id) else redis.call('ZADD', expiries, expires, task.id) end
  expireKeys(task)
end

-- Prolongs the lifetime of a task, and never shortens it.
local function prolong(task, lifetime)
  local expires = task.expires
  if expires ~= '' and task.fixed ~= '1' then
    expires = lifetime == '' and '' or math.max(tonumber(expires), now + lifetime)
  end
  setExpiry(task, expires)
end

local function endClaim(id, dueAt)
  set(id, 'token', '', 'worker', '')
  if dueAt then redis.call('ZADD', due, dueAt, id) else redis.call('ZREM', due, id) end
end

local function endTask(task, status, outcome, message, progress, lifetime)
  set(task.id, 'status', status, 'outcome', outcome, 'payload', '{}', 'requests', '{}', 'cancelling', '', 'updated', now)
  if message ~= '' then set(task.id, 'message', message) end
  if progress ~= '' then set(task.id, 'progress', progress) end
  redis.call('DEL', keyOf('journal', task.id), keyOf('answers', task.id), keyOf('open', task.id))
  redis.call('ZREM', waiting, task.id)
  redis.call('ZADD', keyOf('ended', task.caller), now, task.id)
  endClaim(task.id)
  prolong(task, lifetime)
end

-- Stores the progress in the arguments 3 to 5, and the journal entries from the argument whose number is the sixth.
local function storeProgress(task)
  local message, progress = arg(3), arg(4)
  if message == '' then message = task.message end
  if progress == '' then progress = task.progress end
  if message ~= task.message or progress ~= task.progress then
    set(task.id, 'message', message, 'progress', progress, 'updated', now)
  end
  if arg(5) == '1' then set(task.id, 'failures', 0) end
  local index = tonumber(arg(6))
  while arg(index) do
    redis.call('HSET', keyOf('journal', task.id), arg(index), arg(index + 1))
    index = index + 2
  end
  -- Never fewer than before, so that a claim notices a lost journal, also one that got entries since.
  local count = redis.call('HLEN', keyOf('journal', task.id))
  if count > tonumber(redis.call('HGET', keyOf('task', task.id), 'entries') or 0) then set(task.id, 'entries', count) end
  expireKeys(task)
end

local function stateOf(task, dueAt)
  if not isOpen(task) then return '' end
  if not dueAt then return 'waiting' end
  if tonumber(dueAt) <= now then return 'ready' end
  return task.token == '' and 'paused' or 'running'
end

local function rowOf(task)
  local row = redis.call('HMGET', keyOf('task', task.id), ${rowFields.map((field) => `'${field}'`).join(', ')})
  local dueAt = redis.call('ZSCORE', due, task.id)
  return { row, dueAt or '', stateOf(task, dueAt), redis.call('SMEMBERS', keyOf('open', task.id)), string.format('%.0f', now) }
end
`

/** Puts the functions that all scripts share before a script. */
export function defineScript(body: string): Script {
  const text = `${library}${body}`
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}
