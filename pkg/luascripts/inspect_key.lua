-- inspect_key: what a key of any type is, without its content.
--
-- KEYS  1 key
-- Reply {now, type, PTTL, size}: the bytes of a string, the items of anything
--         else; -1 for a type that Redis itself does not have
--
-- Reads only.
-- Uses: clock, types

local key = KEYS[1]
local kind = type_of(key)
local size = -1
if kind == 'string' then
  size = redis.call('STRLEN', key)
elseif kind == 'zset' then
  size = redis.call('ZCARD', key)
elseif kind == 'hash' then
  size = redis.call('HLEN', key)
elseif kind == 'list' then
  size = redis.call('LLEN', key)
elseif kind == 'set' then
  size = redis.call('SCARD', key)
elseif kind == 'stream' then
  size = redis.call('XLEN', key)
end
return {text(now_ms()), kind, text(redis.call('PTTL', key)), text(size)}
