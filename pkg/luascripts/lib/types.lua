-- types: telling a key of the wrong type before anything is changed.

-- wrong_type(key, want) tells whether key exists with another type.
local function wrong_type(key, want)
  local reply = redis.call('TYPE', key)
  local found = type(reply) == 'table' and reply.ok or reply
  return found ~= 'none' and found ~= want
end
