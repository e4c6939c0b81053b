-- types: telling a key of the wrong type before anything is changed.

-- type_of(key) is the type of a key, "none" where there is none.
local function type_of(key)
  local reply = redis.call('TYPE', key)
  return type(reply) == 'table' and reply.ok or reply
end

-- wrong_type(key, want) tells whether key exists with another type.
local function wrong_type(key, want)
  local found = type_of(key)
  return found ~= 'none' and found ~= want
end
