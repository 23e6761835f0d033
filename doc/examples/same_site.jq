# A stage of spoor that drops links to other hosts: jq -cR --unbuffered -f same_site.jq
def host: split("/")[2];
fromjson?
| if .links then (.url | host) as $here | .links |= map(select(.url | host == $here)) else . end
