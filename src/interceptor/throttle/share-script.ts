/**
 * Gives a process its share of a limit, in one atomic step of the server. The key is a hash: in `tat`, the time
 * from which no request is reserved; under the name of each process, when it last asked, its leases, and
 * whether requests wait there.
 *
 * Arguments: rate, burst, concurrency (0 for none); how many times are wanted, how many leases; how many
 * requests run; milliseconds of the horizon and of a lease; the name of the process; 1 if requests wait there.
 * Returns how many times, the milliseconds until the first, the leases, how many processes have asked of late,
 * and the milliseconds until there are more times.
 */
export const SHARE_SCRIPT = `
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local a = {}
for i = 1, 8 do a[i] = tonumber(ARGV[i]) end
local rate, burst, limit, want, hold, running, horizon, life = a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]
local id, waits = ARGV[9], ARGV[10]
local tat, sharers, present, others = 0, 1, 1, 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if all[i] == 'tat' then tat = tonumber(all[i + 1])
  elseif all[i] ~= id then
    local seen, leases, waiting = string.match(all[i + 1], '^(%S+) (%S+) (%S+)$')
    if math.abs(now - seen) > life then redis.call('HDEL', KEYS[1], all[i])
    else
      others = others + leases
      present = present + 1
      if waiting == '1' then sharers = sharers + 1 end
    end
  end
end
if limit > 0 then
  hold = math.min(hold, math.max(0, limit - others))
  if sharers > 1 then hold = math.min(hold, math.ceil(limit / sharers)) end
  hold = math.max(hold, running)
end
local gap = 1000 / rate
local count, first, wait = 0, 0, 0
if want > 0 then
  first = math.max(tat, now - (burst - 1) * gap)
  -- The time of the server has gone back.
  first = math.min(first, now + horizon + gap)
  local room = math.max(0, math.floor((now + horizon - first) / gap) + 1)
  count = math.min(want, room, math.max(burst, math.ceil(horizon / gap / sharers)))
  tat = first + count * gap
  wait = math.max(0, tat - now - horizon)
  redis.call('HSET', KEYS[1], 'tat', string.format('%.3f', tat))
end
redis.call('HSET', KEYS[1], id, string.format('%.3f %d %s', now, hold, waits))
redis.call('PEXPIRE', KEYS[1], math.ceil(math.max(0, tat - now) + 2 * life))
return {count, string.format('%.3f', first - now), hold, present, string.format('%.3f', wait)}
`
