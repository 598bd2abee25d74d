import { defineScript } from './script-library.ts'

/** Arguments: id, owner, caller, tool, payload, message, lifetime, fixed, limit. */
export const createScript = defineScript(`
local id, caller = arg(1), arg(3)
local kept = keyOf('kept', caller)
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', kept, '-inf', now)) do drop(expired, caller) end
if redis.call('ZCARD', kept) >= tonumber(arg(9)) then
  local oldest = redis.call('ZRANGE', keyOf('ended', caller), 0, 0)[1]
  if not oldest then return 'full' end
  drop(oldest, caller)
end
if redis.call('EXISTS', keyOf('task', id)) == 1 then return 'exists' end
set(id, 'id', id, 'owner', arg(2), 'caller', caller, 'tool', arg(4), 'payload', arg(5), 'message', arg(6),
  'fixed', arg(8), 'status', 'working', 'progress', '', 'created', now, 'updated', now, 'requests', '{}', 'outcome', '',
  'attempt', 0, 'failures', 0, 'worker', '', 'token', '', 'cancelling', '')
redis.call('HSET', callers, id, caller)
redis.call('ZADD', created, now, id)
redis.call('ZADD', due, now, id)
setExpiry({ id = id, caller = caller }, arg(7) == '' and '' or now + arg(7))
notifyWork()
return rowOf({ id = id, status = 'working', token = '' })`)

/** Microseconds in which the worker of a task, if it lives, sends a heartbeat. */
const heartbeatWaitUs = 60_000_000

/**
 * Arguments: id, and either the owner or nothing for an operator. If Redis has lost the key by which a worker or an
 * answer would find the task, the task is due again.
 */
export const readScript = defineScript(`
local task = find(arg(1), 'owner')
if not task or (arg(2) and task.owner ~= arg(2)) then return false end
if task.status == 'input_required' and redis.call('EXISTS', keyOf('open', task.id)) == 0 then
  task.status = 'working'
  set(task.id, 'status', 'working', 'requests', '{}')
  redis.call('ZREM', waiting, task.id)
end
if task.status == 'working' and not redis.call('ZSCORE', due, task.id) then
  redis.call('ZADD', due, task.token == '' and now or now + ${heartbeatWaitUs}, task.id)
  notifyWork()
end
return rowOf(task)`)

/** Arguments: id, owner, lifetime, and pairs of a key and a response. */
export const answerScript = defineScript(`
local task = find(arg(1), 'owner')
if not task or task.owner ~= arg(2) then return 'unknown' end
local count, index = 0, 4
while arg(index) do
  if redis.call('SREM', keyOf('open', task.id), arg(index)) == 1 then
    count = count + 1
    redis.call('HSETNX', keyOf('answers', task.id), arg(index), arg(index + 1))
  end
  index = index + 2
end
if count == 0 then return 'ignored' end
set(task.id, 'updated', now)
if redis.call('SCARD', keyOf('open', task.id)) > 0 then
  expireKeys(task)
  return 'stored'
end
set(task.id, 'status', 'working', 'requests', '{}')
redis.call('ZREM', waiting, task.id)
redis.call('ZADD', due, now, task.id)
prolong(task, arg(3))
notifyWork()
return 'resumed'`)

/** Arguments: id, the notification of the cancellation, the outcome of the task, and the owner unless for an operator. */
export const cancelScript = defineScript(`
local task = find(arg(1), 'owner')
if not task or (arg(4) and task.owner ~= arg(4)) then return 'unknown' end
if not isOpen(task) then return 'finished' end
if stateOf(task, redis.call('ZSCORE', due, task.id)) == 'running' then
  set(task.id, 'cancelling', '1')
  notify(arg(2))
  return 'notified'
end
endTask(task, 'cancelled', arg(3), '', '', 0)
return 'cancelled'`)

/** Arguments: maximum number of claims, lease, worker, an id or the empty text, and a token for each claim. */
export const claimScript = defineScript(`
local next = redis.call('ZRANGEBYSCORE', due, '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
local claimed, maxClaims, onlyId = {}, tonumber(arg(1)), arg(4)

local function claim(id, dueAt)
  local task = find(id, 'attempt', 'failures', 'payload', 'entries')
  if not task then return redis.call('ZREM', due, id) end
  -- A task whose journal is lost begins again, and asks again: answers would change the idempotency keys of its steps.
  if tonumber(task.entries or 0) > redis.call('HLEN', keyOf('journal', id)) then redis.call('DEL', keyOf('answers', id)) end
  local token, attempt = arg(5 + #claimed), task.attempt + 1
  local failures = task.failures + (task.token == '' and 0 or 1)
  set(id, 'token', token, 'attempt', attempt, 'failures', failures, 'worker', arg(3))
  redis.call('ZADD', due, now + arg(2), id)
  claimed[#claimed + 1] = { id, attempt, token, failures, math.floor((now - dueAt) / 1000), task.payload, task.cancelling,
    task.created, redis.call('HVALS', keyOf('journal', id)), redis.call('HGETALL', keyOf('answers', id)) }
end

if onlyId ~= '' then
  local dueAt = redis.call('ZSCORE', due, onlyId)
  if dueAt and tonumber(dueAt) <= now then claim(onlyId, dueAt) end
else
  while #claimed < maxClaims do
    local ready = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'WITHSCORES', 'LIMIT', 0, maxClaims - #claimed)
    if #ready == 0 then break end
    for index = 1, #ready, 2 do claim(ready[index], ready[index + 1]) end
  end
end
return { next[2] and math.ceil((next[2] - now) / 1000) or '', claimed }`)

/** Arguments: lease, and pairs of an id and a token. */
export const heartbeatScript = defineScript(`
local states, index = {}, 2
while arg(index) do
  local task = findLeased(arg(index), arg(index + 1))
  if task then redis.call('ZADD', due, now + arg(1), task.id) end
  states[#states + 1] = not task and 'lost' or task.cancelling == '1' and 'cancelling' or 'owned'
  index = index + 2
end
return states`)

/** Arguments: id, token, and the progress. */
export const recordScript = defineScript(`
local task = findLeased(arg(1), arg(2), 'message', 'progress')
if not task then return 'lost' end
storeProgress(task)
return task.cancelling == '1' and 'cancelling' or 'owned'`)

/** Arguments: id, token, the progress, requests, lifetime, and the keys of the requests before the journal entries. */
export const suspendScript = defineScript(`
local task = findLeased(arg(1), arg(2), 'message', 'progress')
if not task then return 'lost' end
if task.cancelling == '1' then return 'cancelling' end
storeProgress(task)
set(task.id, 'status', 'input_required', 'requests', arg(7), 'failures', 0, 'updated', now)
redis.call('DEL', keyOf('open', task.id))
for index = 9, arg(6) - 1 do redis.call('SADD', keyOf('open', task.id), arg(index)) end
redis.call('ZADD', waiting, task.created, task.id)
endClaim(task.id)
prolong(task, arg(8))
return 'owned'`)

/** Arguments: id, token, the progress, and the pause or the empty text. */
export const releaseScript = defineScript(`
local task = findLeased(arg(1), arg(2), 'message', 'progress')
if not task then return 'lost' end
if task.cancelling == '1' then return 'cancelling' end
storeProgress(task)
endClaim(task.id, now + (arg(7) == '' and 0 or arg(7)))
if arg(7) == '' then notifyWork() end
return 'owned'`)

/** Arguments: id, token, status, outcome, message, progress, lifetime. */
export const finishScript = defineScript(`
local task = findLeased(arg(1), arg(2))
if not task then return 0 end
endTask(task, arg(3), arg(4), arg(5), arg(6), arg(7))
return 1`)

/** Arguments: maximum number of tasks. */
export const sweepScript = defineScript(`
local expired = redis.call('ZRANGEBYSCORE', expiries, '-inf', now, 'LIMIT', 0, arg(1))
for _, id in ipairs(expired) do drop(id) end
return #expired`)

/** Arguments: maximum number of ids. */
export const listDueScript = defineScript(`
local ids = {}
while #ids < tonumber(arg(1)) do
  local ready = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', #ids, arg(1) - #ids)
  if #ready == 0 then break end
  for _, id in ipairs(ready) do
    if find(id) then ids[#ids + 1] = id else redis.call('ZREM', due, id) end
  end
end
return ids`)

/** Arguments: id. */
export const revokeScript = defineScript(`
local task = find(arg(1))
if not task then return 'unknown' end
if not isOpen(task) then return 'finished' end
if task.status == 'input_required' then return 'waiting' end
set(task.id, 'failures', 0)
endClaim(task.id, now)
notifyWork()
return 'revoked'`)

/**
 * Arguments: maximum number of tasks, the time and the id after which the page begins, status, tool, owner, age,
 * failures, and how many tasks are read at most.
 */
export const listScript = defineScript(`
local time, after = arg(2), arg(3)
local found = redis.call('ZREVRANGEBYSCORE', created, time == '' and '+inf' or time, '-inf', 'WITHSCORES', 'LIMIT', 0, arg(9))
local rows, position = {}, { time, after }

local function matches(task)
  return (arg(4) == '' or task.status == arg(4)) and (arg(5) == '' or '+' .. task.tool == arg(5))
    and (arg(6) == '' or '+' .. task.owner == arg(6)) and now - task.created >= tonumber(arg(7))
    and tonumber(task.failures) >= tonumber(arg(8))
end

for index = 1, #found, 2 do
  local id, at = found[index], found[index + 1]
  if #rows < tonumber(arg(1)) and (at ~= time or id < after) then
    local task = find(id, 'tool', 'owner', 'failures')
    if task and matches(task) then rows[#rows + 1] = rowOf(task) end
    position = { at, id }
  end
end
return { rows, position, #found < 2 * arg(9) and #rows < tonumber(arg(1)) and 1 or 0 }`)

/** Arguments: name of a sorted set, rank of the first task, and how many tasks are read at most. */
export const countScript = defineScript(`
local ids = redis.call('ZRANGE', prefix .. arg(1), arg(2), arg(2) + arg(3) - 1, 'WITHSCORES')
local groups, list = {}, {}
for index = 1, #ids, 2 do
  local task = find(ids[index], 'tool')
  if task then
    local state = stateOf(task, arg(1) == 'due' and ids[index + 1] or nil)
    local since = tonumber(state == 'ready' and ids[index + 1] or task.created)
    local name = state .. task.tool
    local group = groups[name]
    if not group then
      group = { task.tool, task.status, state, 0, since }
      groups[name] = group
      list[#list + 1] = group
    end
    group[4] = group[4] + 1
    group[5] = math.min(group[5], since)
  end
end
for _, group in ipairs(list) do group[5] = math.floor((now - group[5]) / 1000) end
return { #ids / 2, list }`)
