import type { TestClient } from '@tooling/real-servers/redis'

/** Moves all times that an engine has stored back by a number of microseconds, and those at which Redis deletes keys. */
const moveTimes = `
local moved = tonumber(ARGV[2])
local function moveField(key, name)
  local value = redis.call('HGET', key, name)
  if value and value ~= '' then redis.call('HSET', key, name, value - moved) end
end
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local ttl = redis.call('PTTL', key)
  local kind = redis.call('TYPE', key).ok
  if kind == 'zset' then
    local members = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for index = 1, #members, 2 do redis.call('ZADD', key, members[index + 1] - moved, members[index]) end
  elseif kind == 'hash' then
    for _, name in ipairs({ 'created', 'updated', 'expires' }) do moveField(key, name) end
  end
  if ttl > 0 then redis.call('PEXPIRE', key, math.max(0, ttl - moved / 1000)) end
end`

/** Lets time pass for the tasks of an engine over Redis. For tests. */
export async function passRedisTime(client: TestClient, prefix: string, ms: number): Promise<void> {
  const pattern = `${prefix.replaceAll(/[[\]{}*?]/g, String.raw`\$&`)}*`
  await client.sendCommand(['EVAL', moveTimes, '0', pattern, String(ms * 1000)])
}
